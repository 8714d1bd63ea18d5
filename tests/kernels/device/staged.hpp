#pragma once
// Device tables under the tests of the host's: a staged kernel copies what its arguments point to onto the device, runs
// there, and copies everything back. What a kernel leaves alone comes back as it was.

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep::test {

/// A device and a table of kernels that run on it.
struct Rung {
  std::shared_ptr<Device> device;
  KernelTable<float> float32;
  KernelTable<double> float64;

  template <class T>
  const KernelTable<T>& table() const {
    if constexpr (std::is_same_v<T, float>)
      return float32;
    else
      return float64;
  }
};

/// What the test program tests, at most kMostRungs; empty where the machine has no such device.
const std::vector<Rung>& rungs();
inline constexpr std::size_t kMostRungs = 3;

class Stage {
 public:
  explicit Stage(Device& device) : device_(device) {}

  template <class T>
  void vector(T*& host, std::int64_t count) {
    if (host == nullptr) return;
    const auto bytes = count * static_cast<std::int64_t>(sizeof(T));
    auto* const key = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(host));
    auto [at, fresh] = items_.try_emplace(key);
    if (fresh) {  // the same array twice: y may be x
      at->second = {AlignedBuffer<std::byte>(bytes + 64, device_), bytes, !std::is_const_v<T>};
      device_.to_device(at->second.copy.data(), key, bytes);
    }
    at->second.returns = at->second.returns || !std::is_const_v<T>;
    host = reinterpret_cast<T*>(at->second.copy.data());
  }
  template <class T>
  void matrix(MatrixView<T>& host) {
    vector(host.data, host.empty() ? 0 : (host.rows - 1) * host.stride + host.cols);
  }
  void finish() {
    for (auto& [host, item] : items_)
      if (item.returns) device_.to_host(host, item.copy.data(), item.bytes);
  }

 private:
  struct Item {
    AlignedBuffer<std::byte> copy;
    std::int64_t bytes = 0;
    bool returns = false;
  };
  Device& device_;
  std::map<std::byte*, Item> items_;
};

template <class T>
void stage(Stage& s, LinearForward<T>& a) {
  s.matrix(a.x), s.matrix(a.w), s.vector(a.b, a.y.rows), s.matrix(a.y), s.matrix(a.w_transposed);
}
template <class T>
void stage(Stage& s, LinearBackwardData<T>& a) {
  s.matrix(a.w), s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, LinearBackwardWeights<T>& a) {
  s.matrix(a.x), s.matrix(a.dy), s.vector(a.db, a.dw.rows), s.matrix(a.dw);
}
inline std::int64_t weights_of(const Conv2dGeometry& g) {
  return g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w;
}
template <class T>
void stage(Stage& s, Conv2dForward<T>& a) {
  s.matrix(a.x), s.vector(a.w, weights_of(a.geometry)), s.vector(a.b, a.geometry.out_channels), s.matrix(a.y),
      s.matrix(a.w_transposed);
}
template <class T>
void stage(Stage& s, Conv2dBackwardData<T>& a) {
  s.vector(a.w, weights_of(a.geometry)), s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, Conv2dBackwardWeights<T>& a) {
  s.matrix(a.x), s.matrix(a.dy), s.vector(a.dw, weights_of(a.geometry)), s.vector(a.db, a.geometry.out_channels);
}
template <class T>
void stage(Stage& s, MaxPool2dForward<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, MaxPool2dBackward<T>& a) {
  s.matrix(a.x), s.matrix(a.y), s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, AvgPool2dForward<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, AvgPool2dBackward<T>& a) {
  s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, ActivationForward<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, ActivationBackward<T>& a) {
  s.matrix(a.x), s.matrix(a.y), s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, SoftmaxForward<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, SoftmaxBackward<T>& a) {
  s.matrix(a.y), s.matrix(a.dy), s.matrix(a.dx);
}
template <class T>
void stage(Stage& s, BatchNormForward<T>& a) {
  const std::int64_t statistics = a.channels * a.slots.count();
  s.matrix(a.x), s.vector(a.gamma, a.channels), s.vector(a.beta, a.channels), s.matrix(a.y);
  s.vector(a.mean, statistics), s.vector(a.inv_std, statistics);
  s.vector(a.sum_mean, a.channels), s.vector(a.sum_var, a.channels);
}
template <class T>
void stage(Stage& s, BatchNormBackward<T>& a) {
  const std::int64_t statistics = a.channels * a.slots.count();
  s.matrix(a.x), s.matrix(a.dy), s.vector(a.gamma, a.channels), s.vector(a.mean, statistics);
  s.vector(a.inv_std, statistics), s.matrix(a.dx), s.vector(a.dgamma, a.channels), s.vector(a.dbeta, a.channels);
}
template <class T>
void stage(Stage& s, BatchNormInference<T>& a) {
  s.matrix(a.x), s.vector(a.gamma, a.channels), s.vector(a.beta, a.channels), s.vector(a.running_mean, a.channels);
  s.vector(a.running_var, a.channels), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, BatchNormSums<T>& a) {
  s.matrix(a.x), s.vector(a.centre, a.channels), s.vector(a.sum, a.channels);
}
template <class T>
void stage(Stage& s, BatchNormNormalise<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
  for (const T** values : {&a.gamma, &a.beta, &a.mean, &a.inv_std}) s.vector(*values, a.channels);
}
template <class T>
void stage(Stage& s, BatchNormBackwardData<T>& a) {
  s.matrix(a.x), s.matrix(a.dy), s.matrix(a.dx);
  for (const T** values : {&a.gamma, &a.mean, &a.inv_std, &a.p, &a.q}) s.vector(*values, a.channels);
}
template <class T>
void stage(Stage& s, LayerNormForward<T>& a) {
  s.matrix(a.x), s.vector(a.gamma, a.x.rows), s.vector(a.beta, a.x.rows), s.matrix(a.y);
  s.vector(a.mean, a.x.cols), s.vector(a.inv_std, a.x.cols);
}
template <class T>
void stage(Stage& s, LayerNormBackward<T>& a) {
  s.matrix(a.x), s.matrix(a.dy), s.vector(a.gamma, a.x.rows), s.vector(a.mean, a.x.cols);
  s.vector(a.inv_std, a.x.cols), s.matrix(a.dx), s.vector(a.dgamma, a.x.rows), s.vector(a.dbeta, a.x.rows);
}
template <class T>
void stage(Stage& s, LstmForward<T>& a) {
  s.matrix(a.zi), s.matrix(a.zh), s.matrix(a.c_before), s.matrix(a.gates), s.matrix(a.c), s.matrix(a.h);
}
template <class T>
void stage(Stage& s, LstmBackward<T>& a) {
  s.matrix(a.gates), s.matrix(a.c), s.matrix(a.c_before), s.matrix(a.dh), s.matrix(a.dc_after), s.matrix(a.dz);
  s.matrix(a.dc_before);
}
template <class T>
void stage(Stage& s, GruForward<T>& a) {
  s.matrix(a.zi), s.matrix(a.zh), s.matrix(a.h_before), s.matrix(a.gates), s.matrix(a.h);
}
template <class T>
void stage(Stage& s, GruBackward<T>& a) {
  s.matrix(a.gates), s.matrix(a.zh), s.matrix(a.h_before), s.matrix(a.dh), s.matrix(a.dzi), s.matrix(a.dzh);
  s.matrix(a.dh_before);
}
template <class T>
void stage(Stage& s, PackSteps<T>& a) {
  s.matrix(a.from), s.matrix(a.to);
}
template <class T>
void stage(Stage& s, EndSteps<T>& a) {
  s.vector(a.lengths, a.y.cols), s.matrix(a.ended), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, DropoutApply<T>& a) {
  const std::int64_t* ids = a.sample_ids.data();
  s.vector(ids, static_cast<std::int64_t>(a.sample_ids.size())), s.matrix(a.x), s.matrix(a.y);
  a.sample_ids = {ids, a.sample_ids.size()};
}
template <class T>
void stage(Stage& s, Add<T>& a) {
  s.matrix(a.a), s.matrix(a.b), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, LossGradient<T>& a) {
  s.matrix(a.z), s.vector(a.targets.labels, a.z.cols), s.matrix(a.targets.values), s.vector(a.weights, a.z.cols);
  s.vector(a.loss, a.z.cols);
  s.matrix(a.dz);
}
template <class T>
void stage(Stage& s, AddL2<T>& a) {
  s.vector(a.w, a.count), s.vector(a.g, a.count);
}
template <class T>
void stage(Stage& s, ScaleGradient<T>& a) {
  s.vector(a.g, a.count);
}
template <class T>
void stage(Stage& s, SgdStep<T>& a) {
  s.vector(a.g, a.count), s.vector(a.w, a.count), s.vector(a.v, a.count);
}
template <class T>
void stage(Stage& s, AdamStep<T>& a) {
  s.vector(a.g, a.count), s.vector(a.w, a.count), s.vector(a.m, a.count), s.vector(a.v, a.count);
}
template <class T>
void stage(Stage& s, LionStep<T>& a) {
  s.vector(a.g, a.count), s.vector(a.w, a.count), s.vector(a.m, a.count);
}
template <class T>
void stage(Stage& s, RmspropStep<T>& a) {
  s.vector(a.g, a.count), s.vector(a.w, a.count), s.vector(a.v, a.count);
}
template <class T>
void stage(Stage& s, SquareSums<T>& a) {
  s.vector(a.x, a.count), s.vector(a.partial, (a.count + kSquareBlock - 1) / kSquareBlock);
}
template <class T>
void stage(Stage& s, RunningUpdate<T>& a) {
  s.vector(a.sum, a.count), s.vector(a.running, a.count);
}
template <class T>
void stage(Stage& s, ScoreSlots<T>& a) {
  s.matrix(a.z), s.vector(a.labels, a.z.cols), s.vector(a.loss, a.z.cols), s.vector(a.sum, a.slots.count());
  s.vector(a.correct, a.slots.count());
  s.vector(a.lengths, a.slots.end(a.slots.count() - 1));
}

template <class T>
void stage(Stage& s, OneHot<T>& a) {
  s.matrix(a.x), s.matrix(a.y);
}
template <class T>
void stage(Stage& s, AttentionForward<T>& a) {
  s.matrix(a.qkv), s.matrix(a.y), s.matrix(a.p), s.vector(a.lengths, a.qkv.cols);
}
template <class T>
void stage(Stage& s, AttentionBackward<T>& a) {
  s.matrix(a.qkv), s.matrix(a.p), s.matrix(a.dy), s.matrix(a.dqkv), s.matrix(a.ds);
}

template <std::size_t kRung, class T, class Args, Kernel<Args> KernelTable<T>::*kSlot>
void run_staged(const Args& args, KernelContext&) {
  const Rung& rung = rungs()[kRung];
  KernelContext context(rung.device.get());
  Stage staged(*rung.device);
  Args on_device = args;
  stage(staged, on_device);
  (rung.table<T>().*kSlot)(on_device, context);
  staged.finish();
}

template <std::size_t kRung, class T>
KernelTable<T> staged_table() {
  KernelTable<T> table = rungs()[kRung].table<T>();
#define LOCKSTEP_STAGE(operation, Args) \
  table.operation = {table.operation.name, &run_staged<kRung, T, Args<T>, &KernelTable<T>::operation>};
  LOCKSTEP_OPERATIONS(LOCKSTEP_STAGE)
#undef LOCKSTEP_STAGE
  return table;
}

/// One table per rung.
template <class T>
std::vector<KernelTable<T>> staged_tables() {
  std::vector<KernelTable<T>> tables;
  if (!rungs().empty()) tables.push_back(staged_table<0, T>());
  if (rungs().size() > 1) tables.push_back(staged_table<1, T>());
  if (rungs().size() > 2) tables.push_back(staged_table<2, T>());
  return tables;
}

}  // namespace lockstep::test
