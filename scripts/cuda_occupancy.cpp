// Theoretical occupancy without a device, by the toolkit's own calculator (cuda_occupancy.h is host code). Reads lines
// "SM REGISTERS SHARED_BYTES THREADS" and writes for each the blocks per multiprocessor and the share of its warps in
// percent. Made and run by cuda_resources.py:  g++ -I<toolkit>/include cuda_occupancy.cpp
#include <cuda_occupancy.h>

#include <cstdio>

namespace {

/// What cudaGetDeviceProperties says on a board of each architecture (CUDA C++ Programming Guide, table "Technical
/// Specifications per Compute Capability").
struct Architecture {
  int sm, threads, shared_bytes, shared_bytes_optin, reserved_bytes;
};
constexpr Architecture kArchitectures[] = {
    {75, 1024, 64 << 10, 64 << 10, 0},      {80, 2048, 164 << 10, 163 << 10, 1024},
    {86, 1536, 100 << 10, 99 << 10, 1024},  {89, 1536, 100 << 10, 99 << 10, 1024},
    {90, 2048, 228 << 10, 227 << 10, 1024}, {100, 2048, 228 << 10, 227 << 10, 1024},
    {120, 1536, 100 << 10, 99 << 10, 1024},
};

cudaOccDeviceProp properties_of(const Architecture& a) {
  cudaOccDeviceProp p{};
  p.computeMajor = a.sm / 10;
  p.computeMinor = a.sm % 10;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = a.threads;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(a.shared_bytes);
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(a.shared_bytes_optin);
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(a.reserved_bytes);
  p.numSms = 1;
  return p;
}

}  // namespace

int main() {
  int sm = 0, registers = 0, shared_bytes = 0, threads = 0;
  while (std::scanf("%d %d %d %d", &sm, &registers, &shared_bytes, &threads) == 4) {
    const Architecture* found = nullptr;
    for (const Architecture& a : kArchitectures)
      if (a.sm == sm) found = &a;
    if (found == nullptr) return 2;
    const cudaOccDeviceProp properties = properties_of(*found);
    cudaOccFuncAttributes kernel{};
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = static_cast<std::size_t>(shared_bytes);
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
    kernel.numBlockBarriers = 1;
    const cudaOccDeviceState state{};
    cudaOccResult result{};
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &kernel, &state, threads, 0) != CUDA_OCC_SUCCESS)
      return 1;
    const int blocks = result.activeBlocksPerMultiprocessor;
    std::printf("%d %d\n", blocks, 100 * blocks * ((threads + 31) / 32) * 32 / found->threads);
  }
}
