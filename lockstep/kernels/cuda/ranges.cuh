#pragma once
// Named ranges in the timeline of a profiler, where the toolkit has NVTX (a header; it costs nothing unless a profiler
// is attached).

#if defined(__has_include) && !defined(LOCKSTEP_CUDA_EMULATED)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LOCKSTEP_NVTX 1
#endif
#endif

namespace lockstep::cuda {

#ifdef LOCKSTEP_NVTX
inline void show_range(const char* name) {
  if (name != nullptr)
    nvtxRangePushA(name);
  else
    nvtxRangePop();
}
#else
inline void show_range(const char*) {}
#endif

class Range {
 public:
  explicit Range(const char* name) { show_range(name); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() { show_range(nullptr); }
};

}  // namespace lockstep::cuda
