#include "lockstep/kernels/cuda/cuda_plugin.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/plugin.hpp"

namespace lockstep {

namespace {

constexpr const char* kFile = "liblockstep_cuda.so";
constexpr const char* kNoDriver =
    "cuda: no GPU found: no NVIDIA driver on this machine (libcuda.so.1); install the driver of your GPU, or use "
    "another "
    "backend";

OpenedCudaPlugin open_once() {
  OpenedCudaPlugin result;
  result.file = environment_text("LOCKSTEP_CUDA_PLUGIN").value_or(find_plugin(kFile).string());
  if (result.file.empty()) {
    // Without a driver the plugin could not run either.
    result.missing =
        open_library("libcuda.so.1").handle == nullptr
            ? kNoDriver
            : fmt::format(
                  "cuda: {} is not beside the program: this build has no CUDA part; install the CUDA toolkit "
                  "(nvcc) and build again, or use another backend",
                  kFile);
    return result;
  }
  const SharedLibrary library = open_library(result.file);
  if (library.handle == nullptr) {
    result.missing = fmt::format("cuda: the plugin does not load: {}; build or install it again", library.error);
    return result;
  }
  const auto get = reinterpret_cast<const CudaPlugin* (*)()>(library.find(kCudaPluginSymbol));
  if (get == nullptr || get()->version != kCudaPluginVersion) {
    result.missing =
        fmt::format("cuda: {} was made for another version of Lockstep; build or install it again", result.file);
    return result;
  }
  result.functions = get();
  return result;
}

}  // namespace

const OpenedCudaPlugin& open_cuda_plugin() {
  static const OpenedCudaPlugin plugin = open_once();
  return plugin;
}

std::string explain_cuda(const CudaPlugin& plugin) {
  char text[512] = {};
  plugin.explain(text, sizeof text);
  return text;
}

std::string explain_cuda_count(CudaStatus status, int driver, const CudaPlugin& plugin) {
  switch (status) {
    case CudaStatus::ok:
      return {};
    case CudaStatus::no_driver:
      return kNoDriver;
    case CudaStatus::old_driver:
      return fmt::format(
          "cuda: the NVIDIA driver knows CUDA {}.{} only, the plugin is built with {}; update the driver, or build "
          "with an "
          "older toolkit",
          driver / 1000, driver % 1000 / 10, plugin.toolkit);
    case CudaStatus::no_device:
      return "cuda: the NVIDIA driver finds no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES, or use another "
             "backend";
    default:
      return fmt::format("cuda: {}; look at nvidia-smi, or use another backend", explain_cuda(plugin));
  }
}

}  // namespace lockstep
