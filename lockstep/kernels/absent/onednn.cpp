// What stands in for library/onednn*.cpp in a build that did not find oneDNN.

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/library/table.hpp"

namespace lockstep {

void add_onednn_kernels(KernelTable<float>&) {
  throw Error(
      ErrorCode::usage,
      "backend library needs oneDNN 2, which was missing when Lockstep was built: install libdnnl-dev and build "
      "again, or use the backend simd");
}

}  // namespace lockstep
