#include "lockstep/kernels/library/onednn.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/library/table.hpp"

namespace lockstep::onednn {

namespace {

/// The file that belongs to the headers this build was made with.
const std::string kFile = fmt::format("libdnnl.so.{}", DNNL_VERSION_MAJOR);

Library load() {
  const SharedLibrary file = open_library(kFile);
  if (file.handle == nullptr)
    throw Error(ErrorCode::usage, fmt::format("backend library needs oneDNN ({}), {}; install libdnnl{}, or use the "
                                              "backend simd",
                                              kFile, file.why_not(), DNNL_VERSION_MAJOR));
  Library lib;
  const auto find = [&](auto& function, const char* name) {
    // As the library itself finds them: what the program has comes first (OpenMP), then what the library brings.
    void* symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol == nullptr) symbol = file.find(name);
    if (symbol == nullptr) throw Error(ErrorCode::usage, fmt::format("backend library: {} has no {}", kFile, name));
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
#define LOCKSTEP_ONEDNN_FIND(name) find(lib.name, "dnnl_" #name);
  LOCKSTEP_ONEDNN_FUNCTIONS(LOCKSTEP_ONEDNN_FIND)
#undef LOCKSTEP_ONEDNN_FIND
  find(lib.omp_get_max_threads, "omp_get_max_threads");
  find(lib.omp_set_num_threads, "omp_set_num_threads");
  return lib;
}

}  // namespace

const Library& library() {
  static const Library lib = load();
  return lib;
}

void check(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) throw Error(ErrorCode::resources, fmt::format("oneDNN is out of memory: {}", what));
  throw Error(ErrorCode::bug, fmt::format("oneDNN refused {} (status {}); use the backend simd", what, int(status)));
}

dnnl_memory_desc_t strided(std::span<const dnnl_dim_t> dims, std::span<const dnnl_dim_t> strides) {
  dnnl_memory_desc_t desc;
  check(library().memory_desc_init_by_strides(&desc, static_cast<int>(dims.size()), dims.data(), dnnl_f32,
                                              strides.data()),
        "a layout");
  return desc;
}

dnnl_memory_desc_t dense(std::span<const dnnl_dim_t> dims) {
  dnnl_dims_t strides = {};
  dnnl_dim_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0; step *= dims[d]) strides[d] = step;
  return strided(dims, {strides, dims.size()});
}

dnnl_memory_desc_t tagged(const dnnl_memory_desc_t& desc, dnnl_format_tag_t layout) {
  dnnl_memory_desc_t result;
  check(library().memory_desc_init_by_tag(&result, desc.ndims, desc.dims, dnnl_f32, layout), "a layout");
  return result;
}

dnnl_memory_desc_t layout_of(const PrimitiveDesc& desc, dnnl_query_t what) {
  return *library().primitive_desc_query_md(desc.get(), what, 0);
}

OneThread::OneThread() : before_(library().omp_get_max_threads()) {
  if (before_ != 1) library().omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) library().omp_set_num_threads(before_);
}

Plan::Plan(dnnl_engine_t engine) : engine_(engine) {
  dnnl_primitive_attr_t raw;
  check(library().primitive_attr_create(&raw), "attributes");
  attributes_.reset(raw);
  // The library's own scratchpad belongs to the thread that made the primitive; ours goes with the worker.
  check(library().primitive_attr_set_scratchpad_mode(raw, dnnl_scratchpad_mode_user), "a scratchpad");
}

Tensor Plan::operand(const dnnl_memory_desc_t& desc, bool present) {
  dnnl_memory_t raw = nullptr;
  if (!present) {
    operands_.push_back(raw);
    return {desc, raw};
  }
  check(library().memory_create(&raw, &desc, engine_, DNNL_MEMORY_NONE), "a memory");
  memories_.emplace_back(raw);
  operands_.push_back(raw);
  return {desc, raw};
}

Tensor Plan::temporary(const dnnl_memory_desc_t& desc) {
  dnnl_memory_t raw;
  check(library().memory_create(&raw, &desc, engine_, DNNL_MEMORY_NONE), "a memory");
  memories_.emplace_back(raw);
  temporaries_.push_back({raw, bytes_});
  constexpr auto kLine = static_cast<std::int64_t>(kCacheLine);
  bytes_ += (static_cast<std::int64_t>(library().memory_desc_get_size(&desc)) + kLine - 1) / kLine * kLine;
  return {desc, raw};
}

void Plan::add_reorder(const Tensor& from, const Tensor& to) {
  dnnl_primitive_desc_t raw;
  check(library().reorder_primitive_desc_create(&raw, &from.desc, engine_, &to.desc, engine_, attributes_.get()),
        "a reorder");
  add(PrimitiveDesc(raw), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

Tensor Plan::reordered(const Tensor& from, const dnnl_memory_desc_t& wanted) {
  if (library().memory_desc_equal(&from.desc, &wanted) != 0) return from;
  const Tensor to = temporary(wanted);
  add_reorder(from, to);
  return to;
}

Tensor Plan::place_for(const Tensor& to, const dnnl_memory_desc_t& layout) {
  return library().memory_desc_equal(&to.desc, &layout) != 0 ? to : temporary(layout);
}

void Plan::deliver(const Tensor& from, const Tensor& to) {
  if (from.memory != to.memory) add_reorder(from, to);
}

PrimitiveDesc Plan::describe(const void* op, const_dnnl_primitive_desc_t hint) const {
  dnnl_primitive_desc_t raw;
  check(library().primitive_desc_create(&raw, op, attributes_.get(), engine_, hint), "a primitive");
  return PrimitiveDesc(raw);
}

void Plan::add(const PrimitiveDesc& desc, std::initializer_list<Argument> arguments) {
  dnnl_primitive_t raw;
  check(library().primitive_create(&raw, desc.get()), "to compile a primitive");
  Step& step = steps_.emplace_back();
  step.primitive.reset(raw);
  for (const Argument& argument : arguments)
    if (argument.tensor.memory != nullptr) step.arguments.push_back({argument.kind, argument.tensor.memory});
  const dnnl_memory_desc_t scratchpad = layout_of(desc, dnnl_query_scratchpad_md);
  if (library().memory_desc_get_size(&scratchpad) > 0)
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, temporary(scratchpad).memory});
}

void Plan::run(dnnl_stream_t stream, KernelContext& context, std::initializer_list<const float*> operands) {
  auto place = operands_.begin();
  for (const float* operand : operands) {
    dnnl_memory_t memory = *place++;
    if (memory != nullptr) check(library().memory_set_data_handle(memory, const_cast<float*>(operand)), "an operand");
  }
  std::byte* const base = context.scratch<std::byte>(bytes_);
  if (base != base_)
    for (const Temporary& each : temporaries_)
      check(library().memory_set_data_handle(each.memory, base + each.offset), "a temporary");
  base_ = base;
  for (const Step& step : steps_)
    check(library().primitive_execute(step.primitive.get(), stream, static_cast<int>(step.arguments.size()),
                                      step.arguments.data()),
          "to run a primitive");
  check(library().stream_wait(stream), "to wait");
}

Worker::Worker() {
  dnnl_engine_t engine;
  check(library().engine_create(&engine, dnnl_cpu, 0), "an engine");
  engine_.reset(engine);
  dnnl_stream_t stream;
  check(library().stream_create(&stream, engine, dnnl_stream_default_flags), "a stream");
  stream_.reset(stream);
}

}  // namespace lockstep::onednn

namespace lockstep {

void add_onednn_kernels(KernelTable<float>& table) {
  onednn::library();  // or the reason why not
  onednn::add_conv2d(table);
  onednn::add_pool2d(table);
  onednn::add_batch_norm(table);
}

}  // namespace lockstep
