#include "lockstep/kernels/loss.hpp"

namespace lockstep {

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> names = {"cross-entropy", "binary-cross-entropy", "squared-error"};
  return names;
}

}  // namespace lockstep
