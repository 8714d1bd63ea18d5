// cuda-library: linear layers by cuBLAS (on the emulator: OpenBLAS behind its interface) within rounding of naive.
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "tests/kernels/device/staged.hpp"
#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t in, out, samples;
};
const Dims kDims[] = {{1, 1, 1}, {3, 2, 5}, {7, 13, 15}, {33, 17, 31}, {128, 10, 16}, {40, 0, 4}, {0, 4, 6}, {4, 5, 0}};

/// Copies the arguments to the device, runs the kernel there and copies everything back.
template <class Args>
void run_on_device(const Kernel<Args>& kernel, Args args) {
  Device& device = *rungs().front().device;
  KernelContext context(&device);
  Stage staged(device);
  stage(staged, args);
  kernel(args, context);
  staged.finish();
}

template <class T>
class CudaLibrary : public ::testing::Test {
 protected:
  CudaLibrary() { rungs(); }  // opens the plugin

  const KernelTable<T> table_ = make_table<T>(Backend::cuda_library), naive_ = make_naive_table<T>();
  const KernelTable<double> exact_ = make_naive_table<double>();
  KernelContext context_;
};
TYPED_TEST_SUITE(CudaLibrary, Scalars);

template <class T>
TestMatrix<double> magnitudes_of(const TestMatrix<T>& m) {
  TestMatrix<double> result(m.rows(), m.cols());
  for (std::int64_t r = 0; r < m.rows(); ++r)
    for (std::int64_t c = 0; c < m.cols(); ++c) result(r, c) = std::abs(double(m(r, c)));
  return result;
}

TYPED_TEST(CudaLibrary, NamesItsLibraries) {
  EXPECT_EQ(this->table_.backend, "cuda-library");
  EXPECT_EQ(this->table_.linear_forward.name, "cublas");
  EXPECT_EQ(this->table_.linear_backward_weights.name, "cublas");
  EXPECT_FALSE(keeps_the_promise(Backend::cuda_library));
}

TEST(Cublas, MultipliesColumnMajor) {
  // 2x2: [1 3; 2 4] * [5 7; 6 8] = [23 31; 34 46].
  Device& device = *rungs().front().device;
  const float inputs[] = {1, 2, 3, 4, 5, 6, 7, 8};
  auto* const all = reinterpret_cast<float*>(device.allocate(12 * sizeof(float)));
  device.to_device(all, inputs, sizeof inputs);
  const auto address = [](const float* p) { return reinterpret_cast<std::uint64_t>(p); };
  cublas_gemm(device, {.m = 2,
                       .n = 2,
                       .k = 2,
                       .lda = 2,
                       .ldb = 2,
                       .ldc = 2,
                       .alpha = 1,
                       .a = address(all),
                       .b = address(all + 4),
                       .c = address(all + 8)});
  std::vector<float> product(4);
  device.to_host(product.data(), all + 8, 4 * sizeof(float));
  EXPECT_EQ(product, (std::vector<float>{23, 34, 31, 46}));
  device.release(reinterpret_cast<std::byte*>(all));
}

TYPED_TEST(CudaLibrary, Forward) {
  using T = TypeParam;
  for (const Dims& d : kDims) {
    const TestMatrix<T> x(d.in, d.samples, 1), w(d.out, d.in, 2);
    const auto b = random_vector<T>(d.out, 3);
    std::vector<double> large_b;
    for (const T value : b) large_b.push_back(std::abs(double(value)));
    TestMatrix<T> actual(d.out, d.samples), expected(d.out, d.samples);
    TestMatrix<double> size(d.out, d.samples);
    for (const bool with_bias : {false, true}) {
      LinearForward<T> args{.x = x.view(), .w = w.view(), .b = with_bias ? b.data() : nullptr, .y = actual.view()};
      run_on_device(this->table_.linear_forward, args);
      args.y = expected.view();
      this->naive_.linear_forward(args, this->context_);
      const auto large_x = magnitudes_of(x), large_w = magnitudes_of(w);
      this->exact_.linear_forward(
          {.x = large_x.view(), .w = large_w.view(), .b = with_bias ? large_b.data() : nullptr, .y = size.view()},
          this->context_);
      EXPECT_TRUE(within(elements(actual), elements(expected), sum_bounds<T>(elements(size), d.in)))
          << "in " << d.in << " out " << d.out << " samples " << d.samples;
    }
  }
}

TYPED_TEST(CudaLibrary, BackwardData) {
  using T = TypeParam;
  for (const Dims& d : kDims) {
    const TestMatrix<T> dy(d.out, d.samples, 1), w(d.out, d.in, 2);
    TestMatrix<T> actual(d.in, d.samples), expected(d.in, d.samples);
    TestMatrix<double> size(d.in, d.samples);
    run_on_device(this->table_.linear_backward_data,
                  LinearBackwardData<T>{.w = w.view(), .dy = dy.view(), .dx = actual.view()});
    this->naive_.linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = expected.view()}, this->context_);
    const auto large_dy = magnitudes_of(dy), large_w = magnitudes_of(w);
    this->exact_.linear_backward_data({.w = large_w.view(), .dy = large_dy.view(), .dx = size.view()}, this->context_);
    EXPECT_TRUE(within(elements(actual), elements(expected), sum_bounds<T>(elements(size), d.out)))
        << "in " << d.in << " out " << d.out << " samples " << d.samples;
  }
}

TYPED_TEST(CudaLibrary, BackwardWeights) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Cut cut(sizes);
    for (const Dims& d : {Dims{7, 13, cut.samples()}, Dims{1, 5, cut.samples()}}) {
      const TestMatrix<T> x(d.in, d.samples, 1), dy(d.out, d.samples, 2);
      TestMatrix<T> actual(d.out, d.in), expected(d.out, d.in);
      TestMatrix<double> size(d.out, d.in);
      auto db = nan_vector<T>(d.out), expected_db = db;
      LinearBackwardWeights<T> args{
          .x = x.view(), .dy = dy.view(), .slots = cut.slots(), .dw = actual.view(), .db = db.data()};
      run_on_device(this->table_.linear_backward_weights, args);
      args.dw = expected.view();
      args.db = expected_db.data();
      this->naive_.linear_backward_weights(args, this->context_);
      const auto large_x = magnitudes_of(x), large_dy = magnitudes_of(dy);
      this->exact_.linear_backward_weights(
          {.x = large_x.view(), .dy = large_dy.view(), .slots = cut.slots(), .dw = size.view()}, this->context_);
      EXPECT_TRUE(within(elements(actual), elements(expected), sum_bounds<T>(elements(size), d.samples)));
      EXPECT_TRUE(identical(db, expected_db)) << "the bias is summed by our own kernel";
    }
  }
}

}  // namespace
}  // namespace lockstep::test
