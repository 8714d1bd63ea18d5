#pragma once
// The kernel text of kernels/device/text, embedded by the build and compiled when a program is first used. Compiled
// programs are kept in ~/.cache/lockstep/opencl (or $XDG_CACHE_HOME, or $LOCKSTEP_CACHE_DIR; "off" keeps none), named
// by device, driver, options and text; an entry that is damaged or refused by the driver is made again.

#include <map>
#include <string>
#include <string_view>

#include "lockstep/kernels/opencl/devices.hpp"

namespace lockstep::opencl {

/// The whole text of a program, or empty for an unknown name.
std::string program_text(std::string_view program);

/// Where compiled programs are kept; empty where no place is known.
std::string cache_folder();

class Programs {
 public:
  Programs(cl_context context, const Found& device) : context_(context), device_(device) {}
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs();

  /// Built when first asked for. Throws Error(usage) with the compiler's first complaint where it does not compile.
  cl_kernel kernel(std::string_view name, bool float64, bool vectors);

  int built_from_text() const { return built_from_text_; }

 private:
  cl_program program(const std::string& name, bool float64, bool vectors);
  cl_program from_cache(const std::string& file, const std::string& options) const;
  cl_program from_text(const std::string& name, const std::string& text, const std::string& options);

  cl_context context_;
  const Found& device_;
  std::map<std::string, cl_program> programs_;
  std::map<std::string, cl_kernel, std::less<>> kernels_[2][2];  // [float64][vectors]
  int built_from_text_ = 0;
};

}  // namespace lockstep::opencl
