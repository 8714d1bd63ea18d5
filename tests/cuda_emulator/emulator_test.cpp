// The emulator must run right kernels and must find every planted defect; a checker that finds nothing proves nothing.

#include <gtest/gtest.h>

#include <cuda_runtime.h>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "test_kernels.hpp"

// NOLINTBEGIN(readability-identifier-naming): names of cuBLAS
extern "C" {  // of the emulated cuBLAS
int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
int cublasSetStream_v2(void* handle, cudaStream_t stream);
int cublasSgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc);
}
// NOLINTEND(readability-identifier-naming)

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

template <class T>
struct DeviceArray {
  explicit DeviceArray(std::size_t count) : size(count) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    EXPECT_EQ(cudaMemcpy(data, values.data(), size * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data); }

  std::vector<T> host() const {
    cudaDeviceSynchronize();
    std::vector<T> values(size);
    EXPECT_EQ(cudaMemcpy(values.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

  T* data = nullptr;
  std::size_t size;
};

/// Whether the tiled product of two n x n matrices of small integers (exact in any order) is right.
bool product_is_right(bool barrier) {
  constexpr int n = 37;
  std::vector<float> a(n * n), b(n * n), right(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[std::size_t(i)] = float(i * 7 % 11) - 5;
    b[std::size_t(i)] = float(i * 5 % 13) - 6;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) right[index(i * n + j)] += a[index(i * n + k)] * b[index(k * n + j)];
  const DeviceArray<float> x(a), y(b), z(a.size());
  EXPECT_EQ(start_multiply(barrier, n, x.data, y.data, z.data, nullptr), cudaSuccess);
  return z.host() == right;
}

TEST(Emulator, RunsTilesInSharedMemory) { EXPECT_TRUE(product_is_right(true)); }

TEST(Emulator, RunsShufflesAndDynamicSharedMemory) {
  std::vector<int> values(150), right(3);
  for (int i = 0; i < 150; ++i) {
    values[std::size_t(i)] = i * i;
    right[std::size_t(i / 64)] += i * i;
  }
  const DeviceArray<int> in(values), out(3);
  ASSERT_EQ(start_block_sums(150, in.data, out.data, nullptr), cudaSuccess);
  EXPECT_EQ(out.host(), right);
}

TEST(Emulator, ShufflesAsTheManualSays) {
  const DeviceArray<int> out(128);
  ASSERT_EQ(start_shuffles(out.data), cudaSuccess);
  const std::vector<int> got = out.host();
  for (int t = 0; t < 32; ++t) {
    const auto at = [&](int i) { return got[index(4 * t + i)]; };
    EXPECT_EQ(at(0), 5);
    EXPECT_EQ(at(1), t < 3 ? t : t - 3);
    EXPECT_EQ(at(2), t ^ 1);
    EXPECT_EQ(at(3), t % 8 < 6 ? t + 2 : t);
  }
}

TEST(Emulator, NewMemoryAndSharedMemoryAreNaN) {
  const DeviceArray<float> fresh(5), read(32);
  for (const float value : fresh.host()) EXPECT_TRUE(std::isnan(value));
  ASSERT_EQ(start_read_uninitialised(read.data), cudaSuccess);
  for (const float value : read.host()) EXPECT_TRUE(std::isnan(value));
}

TEST(EmulatorFinds, MissingBarrier) { EXPECT_FALSE(product_is_right(false)); }

TEST(EmulatorFinds, BarrierAfterSomeThreadsReturned) {
  const DeviceArray<float> out(64);
  EXPECT_DEATH(
      {
        start_return_before_barrier(40, out.data);
        cudaDeviceSynchronize();
      },
      "kernel return_before_barrier, block .0,0,0., thread .0,0,0.: divergent barrier .*24 of 64 threads");
}

TEST(EmulatorFinds, BarriersInTwoBranches) {
  const DeviceArray<float> out(64);
  EXPECT_DEATH(
      {
        start_two_barriers(out.data);
        cudaDeviceSynchronize();
      },
      "two_barriers.*divergent barrier");
}

TEST(EmulatorFinds, WritePastTheEnd) {
  const DeviceArray<float> even(64), odd(61);
  // At the guard page; and within the 16 bytes that alignment leaves before it.
  EXPECT_DEATH(
      {
        start_write_at(64, even.data);
        cudaDeviceSynchronize();
      },
      "kernel write_at.*0 bytes past the end of an allocation of 256 bytes");
  EXPECT_DEATH(
      {
        start_write_at(61, odd.data);
        cudaDeviceSynchronize();
      },
      "past the end of an allocation of 244 bytes");
  EXPECT_DEATH(
      {
        start_write_at(-1, odd.data);
        cudaDeviceSynchronize();
      },
      "before the beginning");
  EXPECT_DEATH(
      {
        start_write_shared_at(4, 16, odd.data);
        cudaDeviceSynchronize();
      },
      "16 bytes of dynamic shared memory");
}

TEST(EmulatorFinds, UseAfterFree) {
  float* data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 64), cudaSuccess);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
  EXPECT_DEATH(start_write_at(0, data), "argument 2 of the kernel is not in any allocation");
}

TEST(EmulatorFinds, HostPointerInAKernel) {
  std::vector<float> host(64);
  EXPECT_DEATH(start_write_at(0, host.data()), "argument 2 of the kernel is a pointer to memory of the host");
}

TEST(EmulatorFinds, HostReadsDevicePointer) {
  const DeviceArray<float> array(64);
  EXPECT_DEATH(std::exit(static_cast<volatile float*>(array.data)[3] > 0 ? 1 : 0),
               "the host read or wrote device memory");
}

TEST(EmulatorFinds, LanesOutsideTheMask) {
  const DeviceArray<int> out(32);
  EXPECT_DEATH(
      {
        start_shuffle_outside_mask(out.data);
        cudaDeviceSynchronize();
      },
      "lane that its mask does not name");
}

TEST(EmulatorFinds, WrongDirectionsAndSizesOfCopies) {
  const DeviceArray<float> array(4);
  std::vector<float> host(8);
  EXPECT_EQ(cudaMemcpy(array.data, host.data(), 16, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(host.data(), array.data, 16, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(array.data, host.data(), 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(array.data, host.data(), 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(array.data, host.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST(EmulatorFinds, ImpossibleLaunches) {
  const DeviceArray<float> array(4);
  EXPECT_EQ(start_fill(4, 1, array.data, nullptr, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start_fill(0, 1, array.data, nullptr), cudaErrorInvalidConfiguration) << "a grid of no blocks";
  EXPECT_EQ(start_write_shared_at(0, 49 * 1024, array.data), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(EmulatorFinds, ResultUsedBeforeTheStreamIsDone) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const DeviceArray<float> array(4);
  std::vector<float> host(4, -1);
  ASSERT_EQ(start_fill(4, 7, array.data, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(host.data(), array.data, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(host, std::vector<float>(4, -1)) << "nobody has waited";
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(host, std::vector<float>(4, 7));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(EmulatorFinds, MissingEventBetweenStreams) {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t filled = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&filled, cudaEventDefault), cudaSuccess);
  for (const bool with_event : {false, true}) {
    const DeviceArray<float> array(4);
    std::vector<float> host(4);
    ASSERT_EQ(start_fill(4, 7, array.data, first), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(filled, first), cudaSuccess);
    if (with_event) {
      ASSERT_EQ(cudaStreamWaitEvent(second, filled, 0), cudaSuccess);
    }
    ASSERT_EQ(cudaMemcpyAsync(host.data(), array.data, 16, cudaMemcpyDeviceToHost, second), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_EQ(host[0] == 7, with_event);
  }
  cudaEventDestroy(filled);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

TEST(EmulatorFinds, MissingDependencyInAGraph) {
  for (const bool with_dependency : {false, true}) {
    const DeviceArray<float> array(4);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t first = nullptr, second = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    ASSERT_EQ(put_fill(4, 7, array.data, {graph, nullptr, nullptr, &first}), cudaSuccess);
    ASSERT_EQ(put_fill(4, 8, array.data, {graph, nullptr, with_dependency ? &first : nullptr, &second}), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
    EXPECT_EQ(array.host()[0] == 8, with_dependency);
    // Nodes of what runs are changed one by one; the graph that it was made from is not.
    ASSERT_EQ(put_fill(3, 9, array.data, {nullptr, executable, nullptr, &second}), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
    if (with_dependency) {
      EXPECT_EQ(array.host(), (std::vector<float>{9, 9, 9, 7}));
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}

TEST(Emulator, MeasuresWithEvents) {
  cudaEvent_t begin = nullptr, end = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&begin, cudaEventDefault), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&end, cudaEventDefault), cudaSuccess);
  const DeviceArray<float> array(1000);
  cudaEventRecord(begin, nullptr);
  start_fill(1000, 7, array.data, nullptr);
  cudaEventRecord(end, nullptr);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

TEST(Emulator, MemoryEndsAndComesBack) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  float *most = nullptr, *more = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&more), total + 1), cudaErrorMemoryAllocation);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&most), 4 << 20), cudaSuccess);
    ASSERT_EQ(cudaFree(most), cudaSuccess);
  }
  std::size_t again = 0;
  ASSERT_EQ(cudaMemGetInfo(&again, &total), cudaSuccess);
  EXPECT_EQ(again, free);
}

TEST(Emulator, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([] {
      for (int round = 0; round < 5; ++round) EXPECT_TRUE(product_is_right(true));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Emulator, MultipliesAsCublasDoes) {
  // Column-major: a is 3 x 2, b is 2 x 4; c = a b, and the same from transposed copies.
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, at = {1, 4, 2, 5, 3, 6};
  const std::vector<float> b = {1, 2, 3, 4, 5, 6, 7, 8}, bt = {1, 3, 5, 7, 2, 4, 6, 8};
  const std::vector<float> right = {9, 12, 15, 19, 26, 33, 29, 40, 51, 39, 54, 69};
  const DeviceArray<float> a_device(a), at_device(at), b_device(b), bt_device(bt), c(12);
  void* handle = nullptr;
  ASSERT_EQ(cublasCreate_v2(&handle), 0);
  ASSERT_EQ(cublasSetStream_v2(handle, nullptr), 0);
  const float one = 1, zero = 0;
  EXPECT_EQ(cublasSgemm_v2(handle, 0, 0, 3, 4, 2, &one, a_device.data, 3, b_device.data, 2, &zero, c.data, 3), 0);
  EXPECT_EQ(c.host(), right);
  EXPECT_EQ(cublasSgemm_v2(handle, 1, 1, 3, 4, 2, &one, at_device.data, 2, bt_device.data, 4, &zero, c.data, 3), 0);
  EXPECT_EQ(c.host(), right);
  EXPECT_NE(cublasSgemm_v2(handle, 0, 0, 3, 4, 2, &one, a.data(), 3, b_device.data, 2, &zero, c.data, 3), 0)
      << "a pointer of the host";
  cublasDestroy_v2(handle);
}

}  // namespace
