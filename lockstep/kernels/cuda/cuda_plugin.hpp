#pragma once
// Where the plugin is and whether it can be used.

#include <string>

#include "lockstep/kernels/cuda/plugin.hpp"

namespace lockstep {

struct OpenedCudaPlugin {
  const CudaPlugin* functions = nullptr;
  std::string file;
  std::string missing;  // one line where functions is null
};

/// Opened once: LOCKSTEP_CUDA_PLUGIN, or liblockstep_cuda.so beside the program or in ../lib/lockstep.
const OpenedCudaPlugin& open_cuda_plugin();

/// What the last failure was, in words of CUDA.
std::string explain_cuda(const CudaPlugin& plugin);

/// One line for what count() said, empty where there are devices: which part is missing and what to do.
std::string explain_cuda_count(CudaStatus status, int driver, const CudaPlugin& plugin);

}  // namespace lockstep
