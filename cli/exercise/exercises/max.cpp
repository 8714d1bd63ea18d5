#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace max_parts {

struct MaxArgs {
  std::int64_t rows, cols;
  const std::int32_t *a, *b;
  std::int32_t* c;
};

ElementwiseMax kernel_args(const MaxArgs& a, std::int64_t first, std::int64_t count) {
  const std::int64_t skip = first * a.cols;
  return {dense_matrix(a.a + skip, count, a.cols), dense_matrix(a.b + skip, count, a.cols),
          dense_matrix(a.c + skip, count, a.cols)};
}

template <class Choose>
void each(const MaxArgs& a, const Choose& choose) {
  for (std::int64_t i = 0; i < a.rows * a.cols; ++i) a.c[i] = choose(a.a[i], a.b[i]);
}

/// Equal values, the extremes, and neighbours that float cannot tell apart.
void prepare(MaxArgs& a, CaseRandom& random) {
  auto* const left = const_cast<std::int32_t*>(a.a);
  auto* const right = const_cast<std::int32_t*>(a.b);
  for (std::int64_t i = 0; i < a.rows * a.cols; ++i) switch (random.below(6)) {
      case 0:
        left[i] = right[i];
        break;
      case 1:
        left[i] = std::numeric_limits<std::int32_t>::min() + static_cast<std::int32_t>(random.below(3));
        break;
      case 2:
        right[i] = 2000000000 + static_cast<std::int32_t>(random.below(100));
        left[i] = -2000000000;
        break;
      case 3:
        left[i] = 1000000001 + static_cast<std::int32_t>(random.below(2));
        right[i] = 1000000001;
        break;
      default:
        break;
    }
}

constexpr const char* kTask = R"(For two integer matrices of the same shape compute the larger element at every place:

    c[r, k] = a[r, k] > b[r, k] ? a[r, k] : b[r, k]        a, b, c: [rows, cols]

Integers have no rounding, so every order gives the same result. Rows or columns may be 0. What to think about: which
limit does a loop meet that reads two numbers and writes one, and does nothing else with them?)";

}  // namespace max_parts

Exercise max_exercise() {
  using namespace max_parts;
  ExerciseOf<MaxArgs> e("max", "elementwise_max");
  e.record.title = "The maximum of two matrices";
  e.record.teaches = "Loops over arrays, memory as the limit, work that shares itself out.";
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kTask;
  e.size("rows", &MaxArgs::rows, "rows of every matrix");
  e.size("cols", &MaxArgs::cols, "columns of every matrix");
  const auto shape = [](const MaxArgs& a) { return Dims{a.rows, a.cols}; };
  e.input("a", &MaxArgs::a, shape, "[rows, cols]");
  e.input("b", &MaxArgs::b, shape, "[rows, cols]");
  e.output("c", &MaxArgs::c, shape, "[rows, cols]");
  e.record.shapes = awkward_shapes({65, 65});
  e.record.timed = {2048, 2048};
  e.prepare(prepare);
  e.oracle([](const MaxArgs& a) { naive_primitives().elementwise_max(kernel_args(a, 0, a.rows)); });
  e.fast([](const MaxArgs& a, int threads) {
    const auto kernel = simd_primitives(chosen_isa()).elementwise_max;
    share_rows(a.rows, threads,
               [&](std::int64_t first, std::int64_t count, KernelContext&) { kernel(kernel_args(a, first, count)); });
  });
  e.cost([](const MaxArgs& a) { return elementwise_max_cost(a.rows, a.cols); });
  e.mistake("minimum", "You take the smaller of the two numbers.",
            [](const MaxArgs& a) { each(a, [](auto x, auto y) { return x < y ? x : y; }); });
  e.mistake("absolute", "You compare the magnitudes: a large negative number wins over a small positive one.",
            [](const MaxArgs& a) {
              each(a, [](auto x, auto y) { return std::abs(double(x)) > std::abs(double(y)) ? x : y; });
            });
  e.mistake(
      "overflow", "You compare by the sign of a - b, which overflows: the difference of two int32_t needs 33 bits.",
      [](const MaxArgs& a) {
        each(a,
             [](auto x, auto y) { return static_cast<std::int32_t>(std::uint32_t(x) - std::uint32_t(y)) > 0 ? x : y; });
      });
  e.mistake("through-float",
            "The numbers pass through float, which has 24 bits: neighbours above 16,777,216 become the same.",
            [](const MaxArgs& a) {
              each(a, [](auto x, auto y) {
                const float larger = float(x) > float(y) ? float(x) : float(y);
                return larger >= 2147483648.0F ? std::numeric_limits<std::int32_t>::min()
                                               : static_cast<std::int32_t>(larger);
              });
            });
  e.mistake("only-a", "You copy a; b has no influence.",
            [](const MaxArgs& a) { each(a, [](auto x, auto) { return x; }); });
  e.mistake("only-b", "You copy b; a has no influence.",
            [](const MaxArgs& a) { each(a, [](auto, auto y) { return y; }); });
  e.mistake("sum", "You add the two numbers.", [](const MaxArgs& a) {
    each(a, [](auto x, auto y) { return static_cast<std::int32_t>(std::uint32_t(x) + std::uint32_t(y)); });
  });
  e.mistake("zero-floor",
            "No element of c is below 0: the comparison begins from 0 instead of from a number of the matrices.",
            [](const MaxArgs& a) { each(a, [](auto x, auto y) {
                                     return std::max({x, y, 0});
                                   }); });
  e.mistake("transposed", "You index a matrix of rows x cols as if it had `rows` columns.", [](const MaxArgs& a) {
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t k = 0; k < a.cols; ++k)
        if (const std::int64_t i = r * a.rows + k; i < a.rows * a.cols) a.c[i] = std::max(a.a[i], a.b[i]);
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
