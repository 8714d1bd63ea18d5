// Linear layers by CLBlast, opened at run time: what to compare with. The samples of a batch are one matrix product,
// whatever its slots.

#include <fmt/format.h>

#include <cstdint>

#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/device/launch.hpp"
#include "lockstep/kernels/opencl/device.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep {

namespace {

// As in clblast_c.h, whose enumerations are ints.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

template <class T>
using Gemm = int (*)(int layout, int a_transpose, int b_transpose, std::size_t m, std::size_t n, std::size_t k, T alpha,
                     cl_mem a, std::size_t a_offset, std::size_t a_stride, cl_mem b, std::size_t b_offset,
                     std::size_t b_stride, T beta, cl_mem c, std::size_t c_offset, std::size_t c_stride,
                     cl_command_queue* queue, cl_event* event);

struct ClBlast {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
};

ClBlast load() {
  const SharedLibrary library = open_library("libclblast.so.1");
  if (library.handle == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("backend opencl-library needs CLBlast (libclblast.so.1), {}; install libclblast1, or use "
                            "the backend opencl",
                            library.why_not()));
  ClBlast found;
  found.sgemm = reinterpret_cast<Gemm<float>>(library.find("CLBlastSgemm"));
  found.dgemm = reinterpret_cast<Gemm<double>>(library.find("CLBlastDgemm"));
  if (found.sgemm == nullptr || found.dgemm == nullptr)
    throw Error(ErrorCode::usage, "backend opencl-library: libclblast.so.1 has no gemm; use the backend opencl");
  return found;
}

const ClBlast& clblast() {
  static const ClBlast loaded = load();
  return loaded;
}

template <class T>
Gemm<T> gemm() {
  if constexpr (sizeof(T) == 4)
    return clblast().sgemm;
  else
    return clblast().dgemm;
}

std::size_t size_of(std::int64_t n) { return static_cast<std::size_t>(n); }

/// c = a b + beta c.
template <class T>
void multiply(KernelContext& context, ConstMatrix<T> a, bool a_transposed, ConstMatrix<T> b, bool b_transposed, T beta,
              Matrix<T> c) {
  auto* const device = dynamic_cast<opencl::OpenClDevice*>(&context.device());
  if (device == nullptr) throw Error(ErrorCode::bug, "CLBlast was given another device than OpenCL's");
  const std::int64_t terms = a_transposed ? a.rows : a.cols;
  if (c.empty()) return;
  if (terms == 0) {
    for (std::int64_t r = 0; r < c.rows && beta == T(0); ++r)
      device->zero(c.row(r), c.cols * static_cast<std::int64_t>(sizeof(T)));
    return;
  }
  const auto place = [&](const T* data) {
    auto found = device->place(data);
    found.offset /= sizeof(T);
    return found;
  };
  const auto at_a = place(a.data), at_b = place(b.data), at_c = place(c.data);
  cl_command_queue queue = device->queue();
  int status = 0;
  device->time_as("CLBlast gemm", [&] {
    status = gemm<T>()(kRowMajor, a_transposed ? kTranspose : kNoTranspose, b_transposed ? kTranspose : kNoTranspose,
                       size_of(c.rows), size_of(c.cols), size_of(terms), T(1), at_a.buffer, at_a.offset,
                       size_of(a.stride), at_b.buffer, at_b.offset, size_of(b.stride), beta, at_c.buffer, at_c.offset,
                       size_of(c.stride), &queue, nullptr);
  });
  if (status != 0)
    throw Error(ErrorCode::usage,
                fmt::format("CLBlast refused a matrix product (status {}); use the backend opencl", status));
}

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  if (a.b != nullptr)  // a product over no inputs leaves the bias
    device::linear_product<T>({.x = {a.x.data, 0, a.x.cols, a.x.stride}, .w = a.w.data, .b = a.b, .y = a.y}, context);
  multiply<T>(context, a.w, false, a.x, false, a.b == nullptr ? T(0) : T(1), a.y);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  multiply<T>(context, a.w, true, a.dy, false, T(0), a.dx);
}

/// The bias by the canonical kernel: CLBlast has no sum of rows.
template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  multiply<T>(context, a.dy, false, a.x, true, T(0), a.dw);
  if (a.db == nullptr) return;
  const device::Shape shape{.groups = {1, device::divide_up(a.dw.rows, device::kSide), 1},
                            .group_size = {1, device::kSide, 1}};
  device::start<T>(context, "linear_backward_weights_naive", shape, a.x.data, a.x.stride, a.dy.data, a.dy.stride,
                   context.device().constant(a.slots.bounds), a.slots.count(), a.dw.data, a.dw.stride, a.db,
                   std::int64_t{0}, a.dw.rows);
}

}  // namespace

template <class T>
void add_clblast_kernels(KernelTable<T>& table) {
  clblast();
  table.linear_forward = {"clblast", &linear_forward<T>};
  table.linear_backward_data = {"clblast", &linear_backward_data<T>};
  table.linear_backward_weights = {"clblast", &linear_backward_weights<T>};
}
template void add_clblast_kernels(KernelTable<float>&);
template void add_clblast_kernels(KernelTable<double>&);

}  // namespace lockstep
