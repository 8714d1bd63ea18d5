#include "tests/kernels/math/lanes.hpp"

#include "lockstep/kernels/math/elementary.hpp"
#include "tests/kernels/math/ops_vector.hpp"

namespace lockstep::math::LOCKSTEP_LANES_SET {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

template <class V, class T, class F>
void loop(const T* x, T* y, std::int64_t count, F function) {
  for (std::int64_t i = 0; i < count; i += kBytes / static_cast<int>(sizeof(T))) {
    V v;
    __builtin_memcpy(&v, x + i, kBytes);
    v = function(v);
    __builtin_memcpy(y + i, &v, kBytes);
  }
}

template <class T>
void apply_all(LaneFunction function, const T* x, T* y, std::int64_t count) {
  using V = Vec<T, kBytes / sizeof(T)>;
  switch (function) {
    case LaneFunction::exp:
      return loop<V>(x, y, count, [](V v) { return exp(v); });
    case LaneFunction::log:
      return loop<V>(x, y, count, [](V v) { return log(v); });
    case LaneFunction::log1p:
      return loop<V>(x, y, count, [](V v) { return log1p(v); });
    case LaneFunction::tanh:
      return loop<V>(x, y, count, [](V v) { return tanh(v); });
    case LaneFunction::sigmoid:
      return loop<V>(x, y, count, [](V v) { return sigmoid(v); });
    case LaneFunction::sqrt:
      return loop<V>(x, y, count, [](V v) { return sqrt(v); });
  }
}

}  // namespace

void apply(LaneFunction function, const float* x, float* y, std::int64_t count) { apply_all(function, x, y, count); }
void apply(LaneFunction function, const double* x, double* y, std::int64_t count) { apply_all(function, x, y, count); }

}  // namespace lockstep::math::LOCKSTEP_LANES_SET
