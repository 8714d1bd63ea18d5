// Small kernels, right ones and ones with a planted defect, for the tests of the emulator itself. nvcc compiles them
// too: what is tested here is CUDA.

#include "test_kernels.hpp"

namespace {

using lockstep::cuda::GraphPlace;
using lockstep::cuda::launch;
using lockstep::cuda::NamedKernel;
using lockstep::cuda::put_into_graph;
constexpr int kTile = 16;

/// c = a * b, row-major n x n, with tiles in static shared memory. Without the first barrier a thread can read what its
/// neighbour has not yet written.
template <bool first_barrier>
__device__ void multiply_tiles(float (*left)[kTile], float (*right)[kTile], int n, const float* a, const float* b,
                               float* c) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kTile + x, row = static_cast<int>(blockIdx.y) * kTile + y;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0.0f;
    right[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0.0f;
    if (first_barrier) __syncthreads();
    for (int i = 0; i < kTile; ++i) sum = fmaf(left[y][i], right[i][x], sum);
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void multiply(int n, const float* a, const float* b, float* c) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  multiply_tiles<true>(left, right, n, a, b, c);
}

__global__ void multiply_without_barrier(int n, const float* a, const float* b, float* c) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  multiply_tiles<false>(left, right, n, a, b, c);
}

/// One sum per block of 64 threads: shuffles within warps, dynamic shared memory between them.
__global__ void block_sums(int n, const int* values, int* sums) {
  LOCKSTEP_DYNAMIC_SHARED(int, of_warps);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), t = static_cast<int>(threadIdx.x);
  int sum = i < n ? values[i] : 0;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (t % 32 == 0) of_warps[t / 32] = sum;
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = of_warps[0] + of_warps[1];
}

/// Every thread writes what the four kinds of shuffles give it.
__global__ void shuffles(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  out[4 * t] = __shfl_sync(0xffffffffu, t, 5);
  out[4 * t + 1] = __shfl_up_sync(0xffffffffu, t, 3);
  out[4 * t + 2] = __shfl_xor_sync(0xffffffffu, t, 1);
  out[4 * t + 3] = __shfl_down_sync(0xffffffffu, t, 2, 8);
}

__global__ void fill(int n, float value, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = value;
}

/// out = a static shared array that nobody has written.
__global__ void read_uninitialised(float* out) {
  __shared__ float array[32];
  out[threadIdx.x] = array[threadIdx.x];
  array[threadIdx.x] = 1.0f;
}

__global__ void return_before_barrier(int n, float* out) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  out[threadIdx.x] = 1.0f;
  __syncthreads();
}

__global__ void two_barriers(float* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1.0f;
    __syncthreads();
  } else {
    out[threadIdx.x] = 2.0f;
    __syncthreads();
  }
}

__global__ void write_at(int index, float* out) { out[index] = 1.0f; }

__global__ void write_shared_at(int index, float* out) {
  LOCKSTEP_DYNAMIC_SHARED(float, array);
  array[index] = 1.0f;
  out[0] = array[index];
}

__global__ void shuffle_outside_mask(int* out) { out[threadIdx.x] = __shfl_xor_sync(0x1u, 1, 1); }

dim3 tiles(int n) {
  const auto count = static_cast<unsigned>((n + kTile - 1) / kTile);
  return {count, count};
}

}  // namespace

cudaError_t start_multiply(bool barrier, int n, const float* a, const float* b, float* c, cudaStream_t stream) {
  const dim3 block(kTile, kTile);
  if (barrier)
    return launch(NamedKernel<int, const float*, const float*, float*>{"multiply", multiply}, tiles(n), block, 0,
                  stream, n, a, b, c);
  return launch(
      NamedKernel<int, const float*, const float*, float*>{"multiply_without_barrier", multiply_without_barrier},
      tiles(n), block, 0, stream, n, a, b, c);
}
cudaError_t start_block_sums(int n, const int* values, int* sums, cudaStream_t stream) {
  return launch(NamedKernel<int, const int*, int*>{"block_sums", block_sums}, dim3(static_cast<unsigned>(n + 63) / 64),
                dim3(64), 2 * sizeof(int), stream, n, values, sums);
}
cudaError_t start_shuffles(int* out) {
  return launch(NamedKernel<int*>{"shuffles", shuffles}, dim3(1), dim3(32), 0, nullptr, out);
}
cudaError_t start_fill(int n, float value, float* out, cudaStream_t stream, unsigned threads) {
  return launch(NamedKernel<int, float, float*>{"fill", fill}, dim3((static_cast<unsigned>(n) + 63) / 64),
                dim3(threads), 0, stream, n, value, out);
}
cudaError_t put_fill(int n, float value, float* out, const GraphPlace& place) {
  return put_into_graph(NamedKernel<int, float, float*>{"fill", fill}, dim3(1), dim3(64), place, n, value, out);
}
cudaError_t start_read_uninitialised(float* out) {
  return launch(NamedKernel<float*>{"read_uninitialised", read_uninitialised}, dim3(2), dim3(32), 0, nullptr, out);
}
cudaError_t start_return_before_barrier(int n, float* out) {
  return launch(NamedKernel<int, float*>{"return_before_barrier", return_before_barrier}, dim3(1), dim3(64), 0, nullptr,
                n, out);
}
cudaError_t start_two_barriers(float* out) {
  return launch(NamedKernel<float*>{"two_barriers", two_barriers}, dim3(1), dim3(64), 0, nullptr, out);
}
cudaError_t start_write_at(int index, float* out) {
  return launch(NamedKernel<int, float*>{"write_at", write_at}, dim3(1), dim3(1), 0, nullptr, index, out);
}
cudaError_t start_write_shared_at(int index, std::size_t shared_bytes, float* out) {
  return launch(NamedKernel<int, float*>{"write_shared_at", write_shared_at}, dim3(1), dim3(1), shared_bytes, nullptr,
                index, out);
}
cudaError_t start_shuffle_outside_mask(int* out) {
  return launch(NamedKernel<int*>{"shuffle_outside_mask", shuffle_outside_mask}, dim3(1), dim3(32), 0, nullptr, out);
}
