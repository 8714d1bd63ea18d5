#pragma once
// One kernel at one shape, ready to run under any backend.

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
};

/// Memory for the operands of one kernel, filled with numbers from [-1, 1); the same for every backend.
template <class T>
class Operands {
 public:
  /// Rows are padded as in training.
  Matrix<T> matrix(std::int64_t rows, std::int64_t cols) {
    return {vector(rows * padded(cols)), rows, cols, padded(cols)};
  }
  T* vector(std::int64_t count, double low = -1, double high = 1) {
    AlignedBuffer<T>& buffer = buffers_.emplace_back(count);
    const RandomKey key{.seed = buffers_.size(), .purpose = Purpose::data};
    // Large operands repeat a block: drawing a picture's worth of numbers would take longer than the kernel.
    constexpr std::int64_t kBlock = 1 << 16;
    for (std::int64_t i = 0; i < count; ++i)
      buffer[i] = i < kBlock ? T(low + (high - low) * uniform(key, static_cast<std::uint64_t>(i))) : buffer[i - kBlock];
    return buffer.data();
  }
  std::int32_t* labels(std::int64_t count, std::int64_t classes) {
    labels_.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) labels_[static_cast<std::size_t>(i)] = std::int32_t(i * 7 % classes);
    return labels_.data();
  }

 private:
  std::list<AlignedBuffer<T>> buffers_;
  std::vector<std::int32_t> labels_;
};

template <class T, class Args>
class KernelProblem final : public BenchProblem {
 public:
  using Slot = Kernel<Args> KernelTable<T>::*;

  KernelProblem(Slot slot, const std::function<Args(Operands<T>&)>& arguments)
      : slot_(slot), arguments_(arguments(operands_)) {}

  std::string kernel(Backend backend) override { return std::string((table(backend).*slot_).name); }
  void run(Backend backend) override { (table(backend).*slot_)(arguments_, context_); }

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
