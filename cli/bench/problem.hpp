#pragma once
// One kernel at one shape, ready to run under any backend of the place where its operands lie: the host or a device.

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/machine.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep::cli {

class BenchProblem {
 public:
  virtual ~BenchProblem() = default;
  /// The kernel that `backend` has for it: "simd.avx2". Throws Error(usage) where this machine cannot run the backend.
  virtual std::string kernel(Backend backend) = 0;
  virtual void run(Backend backend) = 0;
  /// Every number of its operands, of those that were written and of those that were only read.
  virtual std::vector<double> numbers() const = 0;
};

/// Memory for the operands of one kernel, filled with numbers from [-1, 1); the same for every backend.
template <class T>
class Operands {
 public:
  /// `device`: null for the host.
  explicit Operands(Device* device) : device_(device) {}

  /// Rows are padded as in training.
  Matrix<T> matrix(std::int64_t rows, std::int64_t cols) {
    T* const data = vector(rows * padded(cols));
    filled_.back().rows = rows;
    filled_.back().cols = cols;
    return {data, rows, cols, padded(cols)};
  }
  T* vector(std::int64_t count, double low = -1, double high = 1) {
    AlignedBuffer<T> buffer(count);
    const RandomKey key{.seed = filled_.size() + 1, .purpose = Purpose::data};
    // Large operands repeat a block: drawing a picture's worth of numbers would take longer than the kernel.
    constexpr std::int64_t kBlock = 1 << 16;
    for (std::int64_t i = 0; i < count; ++i)
      buffer[i] = i < kBlock ? T(low + (high - low) * uniform(key, static_cast<std::uint64_t>(i))) : buffer[i - kBlock];
    filled_.push_back({there(std::move(buffer)), 1, count});
    return filled_.back().buffer.data();
  }
  std::int32_t* labels(std::int64_t count, std::int64_t classes) {
    AlignedBuffer<std::int32_t> labels(count);
    for (std::int64_t i = 0; i < count; ++i) labels[i] = std::int32_t(i * 7 % classes);
    labels_ = there(std::move(labels));
    return labels_.data();
  }
  /// Before the kernel that is measured: naive kernels of the place.
  template <class Args>
  void prepare(Kernel<Args> KernelTable<T>::*slot, const Args& arguments) {
    KernelContext context(device_);
    const bool cuda = device_ != nullptr && device_->info().backend == "cuda";
    const Backend backend = device_ == nullptr ? Backend::naive : cuda ? Backend::cuda_naive : Backend::opencl_naive;
    (make_table<T>(backend).*slot)(arguments, context);
  }

  /// Without the padding, of which kernels may make what they like.
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Filled& one : filled_) {
      AlignedBuffer<T> host;
      const T* data = one.buffer.data();
      if (device_ != nullptr) {
        host = AlignedBuffer<T>(one.buffer.size());
        device_->to_host(host.data(), data, host.size() * static_cast<std::int64_t>(sizeof(T)));
        data = host.data();
      }
      const std::int64_t stride = one.rows == 0 ? 0 : one.buffer.size() / one.rows;
      for (std::int64_t row = 0; row < one.rows; ++row)
        all.insert(all.end(), data + row * stride, data + row * stride + one.cols);
    }
    return all;
  }

 private:
  struct Filled {
    AlignedBuffer<T> buffer;
    std::int64_t rows, cols;
  };

  /// The same numbers where the kernels want them.
  template <class U>
  AlignedBuffer<U> there(AlignedBuffer<U> host) {
    return device_ == nullptr ? std::move(host) : copy_to(*device_, host);
  }

  Device* device_;
  std::list<Filled> filled_;
  AlignedBuffer<std::int32_t> labels_;
};

template <class T, class Args>
class KernelProblem final : public BenchProblem {
 public:
  using Slot = Kernel<Args> KernelTable<T>::*;

  KernelProblem(Slot slot, const std::function<Args(Operands<T>&)>& arguments, Device* device)
      : slot_(slot), operands_(device), arguments_(arguments(operands_)), context_(device) {}

  std::string kernel(Backend backend) override { return std::string((table(backend).*slot_).name); }
  void run(Backend backend) override { (table(backend).*slot_)(arguments_, context_); }
  std::vector<double> numbers() const override { return operands_.numbers(); }

 private:
  const KernelTable<T>& table(Backend backend) {
    for (const auto& [name, table] : tables_)
      if (name == backend) return table;
    return tables_.emplace_back(backend, make_table<T>(backend)).second;
  }

  Slot slot_;
  Operands<T> operands_;
  Args arguments_;
  std::list<std::pair<Backend, KernelTable<T>>> tables_;
  KernelContext context_;
};

}  // namespace lockstep::cli
