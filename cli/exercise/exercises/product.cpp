#include "cli/exercise/exercises/chains.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace product_parts {

using Index = std::int64_t;

struct ProductArgs {
  Index m, n, k;
  const float *a, *b;
  float* c;
};

LinearForward<float> kernel_args(const ProductArgs& p, Index first, Index count) {
  return {.x = dense_matrix(p.b, p.k, p.n),
          .w = dense_matrix(p.a + first * p.k, count, p.k),
          .y = dense_matrix(p.c + first * p.n, count, p.n)};
}

const SumChain<ProductArgs> kProductChain = {.results = [](const ProductArgs& p) { return p.m * p.n; },
                                             .result = [](const ProductArgs& p, Index r) { return p.c + r; },
                                             .terms = [](const ProductArgs& p) { return p.k; },
                                             .term =
                                                 [](const ProductArgs& p, Index r, Index k) {
                                                   return ChainTerm{p.a[r / p.n * p.k + k], p.b[k * p.n + r % p.n]};
                                                 }};

/// Sums of every tile of k by themselves, then added up.
template <Index kTile>
void tile_sums(const ProductArgs& p) {
  for (Index r = 0; r < p.m * p.n; ++r) {
    float sum = 0;
    for (Index first = 0; first < p.k; first += kTile) {
      float part = 0;
      for (Index k = first; k < std::min(first + kTile, p.k); ++k)
        part = __builtin_fmaf(p.a[r / p.n * p.k + k], p.b[k * p.n + r % p.n], part);
      sum += part;
    }
    p.c[r] = sum;
  }
}

constexpr const char* kProductTask = R"(The product of two matrices, in tiles:

    c[i, j] = sum over l of a[i, l] * b[l, j]        a: [m, k]   b: [k, n]   c: [m, n]

**The order is part of the task.** Each c is one chain, from 0, for l = 0, 1, ..., k - 1: sum = fmaf(a, b, sum).

Cut c into tiles that fit into registers, and k into pieces of a and b that fit into the nearest cache (on a device: into
local memory). A tile keeps its sums from piece to piece: a sum of its own for every piece would be another order. Sizes
need not be multiples of a tile.)";

}  // namespace product_parts

Exercise product_exercise() {
  using namespace product_parts;
  ExerciseOf<ProductArgs> e("product", "product");
  e.record.title = "A tiled product";
  e.record.teaches = "Tiles for registers and caches (or local memory): each number is fetched once and used often.";
  e.record.needs = {"linear-forward", "xxt"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kProductTask;
  e.size("m", &ProductArgs::m, "rows of a and c");
  e.size("n", &ProductArgs::n, "columns of b and c");
  e.size("k", &ProductArgs::k, "columns of a, rows of b");
  e.input(
      "a", &ProductArgs::a,
      [](const ProductArgs& p) {
        return Dims{p.m, p.k};
      },
      "[m, k]");
  e.input(
      "b", &ProductArgs::b,
      [](const ProductArgs& p) {
        return Dims{p.k, p.n};
      },
      "[k, n]");
  e.output(
      "c", &ProductArgs::c,
      [](const ProductArgs& p) {
        return Dims{p.m, p.n};
      },
      "[m, n]");
  e.record.shapes = awkward_shapes({65, 65, 65});
  e.record.shapes.push_back({67, 71, 129});
  e.record.timed = {320, 320, 320};
  e.oracle([](const ProductArgs& p) {
    KernelContext context;
    make_naive_table<float>().linear_forward(kernel_args(p, 0, p.m), context);
  });
  e.fast([](const ProductArgs& p, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(p.m, threads, [&](Index first, Index count, KernelContext& context) {
      table.linear_forward(kernel_args(p, first, count), context);
    });
  });
  e.cost([](const ProductArgs& p) { return linear_cost(p.k, p.m, p.n, sizeof(float)); });
  e.terms([](const ProductArgs& p) { return p.k; });
  add_chain_mistakes(e, kProductChain);
  e.another_order("tile-sums-16", "Every piece of 16 has a sum of its own, added to c afterwards: carry the sum on.",
                  tile_sums<16>);
  e.another_order("tile-sums-32", "Every piece of 32 has a sum of its own, added to c afterwards: carry the sum on.",
                  tile_sums<32>);
  e.mistake("b-transposed", "You read b as [n, k]; it is [k, n]: b[l * n + j].", [](const ProductArgs& p) {
    for (Index r = 0; r < p.m * p.n; ++r) {
      float sum = 0;
      for (Index k = 0; k < p.k; ++k) sum = __builtin_fmaf(p.a[r / p.n * p.k + k], p.b[r % p.n * p.k + k], sum);
      p.c[r] = sum;
    }
  });
  e.mistake("last-tile",
            "Every tile of k starts its sum from 0 and replaces the one before: only the last 16 terms count.",
            [](const ProductArgs& p) {
              for (Index r = 0; r < p.m * p.n; ++r) {
                float sum = 0;
                for (Index k = std::max<Index>(p.k - 1, 0) / 16 * 16; k < p.k; ++k)
                  sum = __builtin_fmaf(p.a[r / p.n * p.k + k], p.b[k * p.n + r % p.n], sum);
                p.c[r] = sum;
              }
            });
  return std::move(e.record);
}

}  // namespace lockstep::cli
