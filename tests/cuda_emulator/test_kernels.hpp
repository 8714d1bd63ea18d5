#pragma once
// Each function launches the kernel of its name in test_kernels.cu.

#include "lockstep/kernels/cuda/launch.cuh"

cudaError_t start_multiply(bool barrier, int n, const float* a, const float* b, float* c, cudaStream_t stream);
cudaError_t start_block_sums(int n, const int* values, int* sums, cudaStream_t stream);
cudaError_t start_shuffles(int* out);
cudaError_t start_fill(int n, float value, float* out, cudaStream_t stream, unsigned threads = 64);
/// The same as a node of a graph.
cudaError_t put_fill(int n, float value, float* out, const lockstep::cuda::GraphPlace& place);
cudaError_t start_read_uninitialised(float* out);
cudaError_t start_return_before_barrier(int n, float* out);
cudaError_t start_two_barriers(float* out);
cudaError_t start_write_at(int index, float* out);
cudaError_t start_write_shared_at(int index, std::size_t shared_bytes, float* out);
cudaError_t start_shuffle_outside_mask(int* out);
