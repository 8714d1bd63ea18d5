#pragma once
// oneDNN 2 through its C interface, loaded at run time like OpenBLAS: programs that do not use its 40 MB do not load
// them. Kernels run *plans*: a primitive with the reorders around it, made once per worker and shape.

#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep::onednn {

// clang-format off
/// X(name) for the functions dnnl_<name> that we use.
#define LOCKSTEP_ONEDNN_FUNCTIONS(X)                                                                                  \
  X(engine_create) X(engine_destroy) X(stream_create) X(stream_destroy) X(stream_wait)                                \
  X(memory_desc_init_by_strides) X(memory_desc_init_by_tag) X(memory_desc_equal) X(memory_desc_get_size)              \
  X(memory_create) X(memory_destroy) X(memory_set_data_handle) X(primitive_attr_create)                               \
  X(primitive_attr_destroy) X(primitive_attr_set_scratchpad_mode) X(primitive_desc_create)                            \
  X(primitive_desc_destroy) X(primitive_desc_query_md) X(reorder_primitive_desc_create) X(primitive_create)           \
  X(primitive_destroy) X(primitive_execute) X(dilated_convolution_forward_desc_init)                                  \
  X(dilated_convolution_backward_data_desc_init) X(dilated_convolution_backward_weights_desc_init)                    \
  X(pooling_forward_desc_init) X(pooling_backward_desc_init) X(batch_normalization_forward_desc_init)                 \
  X(batch_normalization_backward_desc_init)
// clang-format on

/// The functions; see onednn.cpp for how they are found.
struct Library {
// NOLINTNEXTLINE(bugprone-macro-parentheses): what is declared cannot stand in parentheses
#define LOCKSTEP_ONEDNN_MEMBER(name) decltype(&dnnl_##name) name = nullptr;
  LOCKSTEP_ONEDNN_FUNCTIONS(LOCKSTEP_ONEDNN_MEMBER)
#undef LOCKSTEP_ONEDNN_MEMBER
  /// Of the OpenMP that the library uses.
  int (*omp_get_max_threads)() = nullptr;
  void (*omp_set_num_threads)(int) = nullptr;
};

/// Loaded on the first call. Throws Error(usage) where it is missing.
const Library& library();

/// Throws Error(bug) for a status that is not success; `what` names the call.
void check(dnnl_status_t status, const char* what);

template <auto kDestroy>
struct Destroy {
  template <class Object>
  void operator()(Object* object) const {
    (library().*kDestroy)(object);
  }
};
using Engine = std::unique_ptr<dnnl_engine, Destroy<&Library::engine_destroy>>;
using Stream = std::unique_ptr<dnnl_stream, Destroy<&Library::stream_destroy>>;
using Attributes = std::unique_ptr<dnnl_primitive_attr, Destroy<&Library::primitive_attr_destroy>>;
using Memory = std::unique_ptr<dnnl_memory, Destroy<&Library::memory_destroy>>;
using PrimitiveDesc = std::unique_ptr<dnnl_primitive_desc, Destroy<&Library::primitive_desc_destroy>>;
using Primitive = std::unique_ptr<dnnl_primitive, Destroy<&Library::primitive_destroy>>;

/// A tensor of float32 at given distances between neighbours in each dimension.
dnnl_memory_desc_t strided(std::span<const dnnl_dim_t> dims, std::span<const dnnl_dim_t> strides);
/// Row-major, without gaps.
dnnl_memory_desc_t dense(std::span<const dnnl_dim_t> dims);
/// A tensor of the same dimensions in a layout of the library; dnnl_format_tag_any: in whatever it likes best.
dnnl_memory_desc_t tagged(const dnnl_memory_desc_t& desc, dnnl_format_tag_t layout);

/// For its life, one thread for every call of this thread: of a team each member calls for itself.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// A tensor of a plan: the kernel's own memory, or memory of the plan.
struct Tensor {
  dnnl_memory_desc_t desc;
  dnnl_memory_t memory;
};

/// Primitives to be run one after the other. Operands of the kernel are bound when it runs, in the order in which the
/// plan asked for them.
class Plan {
 public:
  explicit Plan(dnnl_engine_t engine);

  /// An operand of the kernel; one that this kernel call lacks is a tensor without memory, which primitives leave out.
  Tensor operand(const dnnl_memory_desc_t& desc, bool present = true);
  /// Memory of the plan, undefined before somebody writes to it.
  Tensor temporary(const dnnl_memory_desc_t& desc);
  /// The same values in another layout: `from` itself where it has it already, else a temporary and a reorder.
  Tensor reordered(const Tensor& from, const dnnl_memory_desc_t& wanted);
  /// Where to compute a result in `layout` that shall end in `to`: `to` itself if it has that layout. Follow the
  /// primitive by `deliver`.
  Tensor place_for(const Tensor& to, const dnnl_memory_desc_t& layout);
  void deliver(const Tensor& from, const Tensor& to);

  /// `op` is a description of the library; `hint` that of forward, for backward primitives.
  PrimitiveDesc describe(const void* op, const_dnnl_primitive_desc_t hint = nullptr) const;
  struct Argument {
    int kind;
    Tensor tensor;
  };
  void add(const PrimitiveDesc& desc, std::initializer_list<Argument> arguments);

  void run(dnnl_stream_t stream, KernelContext& context, std::initializer_list<const float*> operands);

 private:
  struct Step {
    Primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Temporary {
    dnnl_memory_t memory;
    std::int64_t offset;
  };
  void add_reorder(const Tensor& from, const Tensor& to);

  dnnl_engine_t engine_;
  Attributes attributes_;
  std::vector<Memory> memories_;
  std::vector<dnnl_memory_t> operands_;
  std::vector<Temporary> temporaries_;
  std::vector<Step> steps_;
  std::int64_t bytes_ = 0;  // of all temporaries
  std::byte* base_ = nullptr;
};

/// dims and layout of a query of a primitive's description.
dnnl_memory_desc_t layout_of(const PrimitiveDesc& desc, dnnl_query_t what);

/// What a worker keeps: the plans it has made, by operation and shape.
class Worker {
 public:
  using Key = std::vector<std::int64_t>;

  Worker();
  /// The plan of this key; made by build(plan) the first time.
  template <class Build>
  Plan& plan(const Key& key, const Build& build) {
    const auto found = plans_.find(key);
    if (found != plans_.end()) return found->second;
    if (plans_.size() >= kMostPlans) plans_.clear();
    Plan fresh(engine_.get());
    build(fresh);
    return plans_.emplace(key, std::move(fresh)).first->second;
  }
  dnnl_stream_t stream() const { return stream_.get(); }

 private:
  /// More than any network has; data of ever changing sizes must not fill the memory.
  static constexpr std::size_t kMostPlans = 512;

  Engine engine_;
  Stream stream_;
  std::map<Key, Plan> plans_;
};

/// Runs the plan of this key, which build(plan) makes the first time, on one thread.
template <class Build>
void run_plan(KernelContext& context, const Worker::Key& key, std::initializer_list<const float*> operands,
              const Build& build) {
  const OneThread one_thread;
  Worker& worker = context.state<Worker>();
  worker.plan(key, build).run(worker.stream(), context, operands);
}

enum Operation : std::int64_t {
  conv2d_forward,
  conv2d_backward_data,
  conv2d_backward_weights,
  max_pool2d_forward,
  max_pool2d_backward,
  avg_pool2d_forward,
  avg_pool2d_backward,
  batch_norm_forward,
  batch_norm_backward,
  batch_norm_inference
};

void add_conv2d(KernelTable<float>& table);
void add_pool2d(KernelTable<float>& table);
void add_batch_norm(KernelTable<float>& table);

}  // namespace lockstep::onednn
