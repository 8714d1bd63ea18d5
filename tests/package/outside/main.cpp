// What a user's first program does: include, link, run.
#include <cstdio>

#include "lockstep/tensor/shape.hpp"

int main() {
  const lockstep::Shape shape{6, 28, 28};
  std::printf("%s holds %lld elements\n", shape.str().c_str(), static_cast<long long>(shape.elements()));
  return shape.elements() == 6 * 28 * 28 ? 0 : 1;
}
