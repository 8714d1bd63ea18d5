// The emulated cuDNN must refuse what the real one refuses: calls that pass here and fail on a GPU prove nothing.

#include "cudnn.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace cuda_emulator::dnn;

namespace {

constexpr float kOne = 1, kZero = 0;

struct Numbers {
  explicit Numbers(std::size_t count) { cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() { cudaFree(data); }
  float* data = nullptr;
};

/// A 3x3 convolution of two images of 4x4 with 2 channels to 3 channels of 2x2.
class EmulatedCudnn : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudnnCreate(&handle), kCudnnSuccess);
    for (void** tensor : {&x, &y}) ASSERT_EQ(cudnnCreateTensorDescriptor(tensor), kCudnnSuccess);
    ASSERT_EQ(cudnnCreateFilterDescriptor(&w), kCudnnSuccess);
    ASSERT_EQ(cudnnCreateConvolutionDescriptor(&convolution), kCudnnSuccess);
    ASSERT_EQ(cudnnCreatePoolingDescriptor(&pooling), kCudnnSuccess);
    set_x(32, 16, 4, 1);
    cudnnSetTensor4dDescriptorEx(y, kCudnnFloat, 2, 3, 2, 2, 12, 4, 2, 1);
    cudnnSetFilter4dDescriptor(w, kCudnnFloat, kCudnnNchw, 3, 2, 3, 3);
    cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1, kCudnnCrossCorrelation, kCudnnFloat);
    cudnnSetConvolutionMathType(convolution, kCudnnFmaMath);
  }
  void TearDown() override {
    for (void* tensor : {x, y}) cudnnDestroyTensorDescriptor(tensor);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyConvolutionDescriptor(convolution);
    cudnnDestroyPoolingDescriptor(pooling);
    cudnnDestroy(handle);
  }
  void set_x(int n_stride, int c_stride, int h_stride, int w_stride) {
    EXPECT_EQ(cudnnSetTensor4dDescriptorEx(x, kCudnnFloat, 2, 2, 4, 4, n_stride, c_stride, h_stride, w_stride),
              kCudnnSuccess);
  }
  int convolve(const float* from, void* workspace, std::size_t bytes, int algorithm = 3) {
    return cudnnConvolutionForward(handle, &kOne, x, from, w, weights.data, convolution, algorithm, workspace, bytes,
                                   &kZero, y, to.data);
  }

  void *handle = nullptr, *x = nullptr, *y = nullptr, *w = nullptr, *convolution = nullptr, *pooling = nullptr;
  const Numbers images{64}, weights{54}, to{24}, space{256};
};

TEST_F(EmulatedCudnn, Convolves) {
  std::vector<float> ones(64, 1), result(24);
  cudaMemcpy(images.data, ones.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(weights.data, ones.data(), 54 * sizeof(float), cudaMemcpyHostToDevice);
  ASSERT_EQ(convolve(images.data, space.data, 1024), kCudnnSuccess);
  cudaDeviceSynchronize();
  cudaMemcpy(result.data(), to.data, 24 * sizeof(float), cudaMemcpyDeviceToHost);
  EXPECT_EQ(result, std::vector<float>(24, 18));
}

TEST_F(EmulatedCudnn, RefusesWrongMemory) {
  std::vector<float> host(64);
  const Numbers few(63);
  EXPECT_EQ(convolve(host.data(), space.data, 1024), kCudnnBadParam) << "a host pointer";
  EXPECT_EQ(convolve(few.data, space.data, 1024), kCudnnBadParam) << "an image that is too small";
  EXPECT_EQ(convolve(images.data, nullptr, 1024), kCudnnBadParam) << "no workspace";
  EXPECT_EQ(convolve(images.data, space.data, 999), kCudnnBadParam) << "a workspace below what was asked for";
  EXPECT_EQ(convolve(images.data, space.data, 1028), kCudnnBadParam) << "a workspace that is not that large";
}

TEST_F(EmulatedCudnn, RefusesWrongDescriptors) {
  EXPECT_EQ(convolve(images.data, space.data, 1024, 0), kCudnnBadParam) << "an algorithm that must not be chosen";
  set_x(1, 2, 4 * 4, 4);  // samples innermost, as our matrices are
  EXPECT_EQ(convolve(images.data, space.data, 1024) / 1000, kCudnnNotSupported / 1000);
  set_x(32, 16, 4, 1);
  cudnnSetTensor4dDescriptorEx(y, kCudnnFloat, 2, 3, 3, 2, 18, 6, 2, 1);
  EXPECT_EQ(convolve(images.data, space.data, 1024), kCudnnBadParam) << "another output than the sizes give";
  cudnnSetTensor4dDescriptorEx(y, kCudnnDouble, 2, 3, 2, 2, 12, 4, 2, 1);
  EXPECT_EQ(convolve(images.data, space.data, 1024), kCudnnBadParam) << "two types";
  EXPECT_EQ(cudnnPoolingForward(handle, pooling, &kOne, x, images.data, &kZero, y, to.data), kCudnnBadParam)
      << "a descriptor that was not set";
  EXPECT_EQ(cudnnBatchNormalizationForwardInference(handle, kCudnnBatchNormSpatial, &kOne, &kZero, x, images.data, x,
                                                    images.data, y, weights.data, weights.data, weights.data,
                                                    weights.data, 0.1),
            kCudnnBadParam)
      << "parameters that are not one per channel";
}

}  // namespace
