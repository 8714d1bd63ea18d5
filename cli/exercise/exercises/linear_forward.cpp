#include "cli/exercise/exercises/chains.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace linear_forward_parts {

struct LinearArgs {
  std::int64_t in, out, samples;
  const float *x, *w, *b;
  float* y;
};

LinearForward<float> kernel_args(const LinearArgs& a, std::int64_t first, std::int64_t count) {
  return {.x = dense_matrix(a.x, a.in, a.samples),
          .w = dense_matrix(a.w + first * a.in, count, a.in),
          .b = a.b == nullptr ? nullptr : a.b + first,
          .y = dense_matrix(a.y + first * a.samples, count, a.samples)};
}

using Index = std::int64_t;

const SumChain<LinearArgs> kChain = {
    .results = [](const LinearArgs& a) { return a.out * a.samples; },
    .result = [](const LinearArgs& a, Index r) { return a.y + r; },
    .terms = [](const LinearArgs& a) { return a.in; },
    .term =
        [](const LinearArgs& a, Index r, Index k) {
          return ChainTerm{a.w[r / a.samples * a.in + k], a.x[k * a.samples + r % a.samples]};
        },
    .start = [](const LinearArgs& a, Index r) { return a.b == nullptr ? 0.0F : a.b[r / a.samples]; }};

/// The layer with other places of its elements: w(a, o, i), x(a, i, s), b(a, o, s), y(a, o, s) are indices.
template <class W, class X, class B, class Y>
void misplaced(const LinearArgs& a, const W& w, const X& x, const B& b, const Y& y) {
  for (Index o = 0; o < a.out; ++o)
    for (Index s = 0; s < a.samples; ++s) {
      float sum = a.b == nullptr ? 0.0F : a.b[b(o, s)];
      for (Index i = 0; i < a.in; ++i) sum = __builtin_fmaf(a.w[w(o, i)], a.x[x(i, s)], sum);
      a.y[y(o, s)] = sum;
    }
}

constexpr const char* kTask = R"(A fully connected layer: every output is a sum over all inputs.

    y[o, s] = b[o] + sum over i of w[o, i] * x[i, s]

    x: [in, samples]   w: [out, in]   b: [out], or null: then 0   y: [out, samples]

**The order is part of the task.** Each y is one chain: start from b[o] (or 0), then for i = 0, 1, ..., in - 1

    sum = fmaf(w[o, i], x[i, s], sum)

fmaf multiplies and adds with one rounding. Chains of different y are independent: do them in any order, side by side,
on any number of threads. in = 0 gives y = b.)";

}  // namespace linear_forward_parts

Exercise linear_forward_exercise() {
  using namespace linear_forward_parts;
  ExerciseOf<LinearArgs> e("linear-forward", "linear_forward");
  e.record.title = "A linear layer, forward";
  e.record.teaches = "Three nested loops, their order in memory, and the order of a sum as a promise.";
  e.record.needs = {"max", "relu"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kTask;
  e.size("in", &LinearArgs::in, "inputs of the layer");
  e.size("out", &LinearArgs::out, "outputs of the layer");
  e.size("samples", &LinearArgs::samples, "samples of the batch");
  e.input(
      "x", &LinearArgs::x,
      [](const LinearArgs& a) {
        return Dims{a.in, a.samples};
      },
      "[in, samples]");
  e.input(
      "w", &LinearArgs::w,
      [](const LinearArgs& a) {
        return Dims{a.out, a.in};
      },
      "[out, in]");
  e.input(
       "b", &LinearArgs::b, [](const LinearArgs& a) { return Dims{a.out}; }, "[out]")
      .optional = true;
  e.output(
      "y", &LinearArgs::y,
      [](const LinearArgs& a) {
        return Dims{a.out, a.samples};
      },
      "[out, samples]");
  e.record.shapes = awkward_shapes({65, 33, 65});
  e.record.shapes.push_back({101, 47, 53});
  e.record.timed = {400, 120, 256};
  e.oracle([](const LinearArgs& a) {
    static const auto table = make_naive_table<float>();
    KernelContext context;
    table.linear_forward(kernel_args(a, 0, a.out), context);
  });
  e.fast([](const LinearArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.out, threads, [&](std::int64_t first, std::int64_t count, KernelContext& context) {
      table.linear_forward(kernel_args(a, first, count), context);
    });
  });
  e.cost([](const LinearArgs& a) { return linear_cost(a.in, a.out, a.samples, sizeof(float)); });
  e.terms([](const LinearArgs& a) { return a.in + 1; });
  add_chain_mistakes(e, kChain);
  e.mistake("weights-transposed", "You read w as [in, out]; it is [out, in]: w[o * in + i].", [](const LinearArgs& a) {
    misplaced(
        a, [&](Index o, Index i) { return i * a.out + o; }, [&](Index i, Index s) { return i * a.samples + s; },
        [](Index o, Index) { return o; }, [&](Index o, Index s) { return o * a.samples + s; });
  });
  e.mistake("inputs-transposed", "You read x as [samples, in]; it is [in, samples]: x[i * samples + s].",
            [](const LinearArgs& a) {
              misplaced(
                  a, [&](Index o, Index i) { return o * a.in + i; }, [&](Index i, Index s) { return s * a.in + i; },
                  [](Index o, Index) { return o; }, [&](Index o, Index s) { return o * a.samples + s; });
            });
  e.mistake("outputs-transposed", "You write y as [samples, out]; it is [out, samples]: y[o * samples + s].",
            [](const LinearArgs& a) {
              misplaced(
                  a, [&](Index o, Index i) { return o * a.in + i; },
                  [&](Index i, Index s) { return i * a.samples + s; }, [](Index o, Index) { return o; },
                  [&](Index o, Index s) { return s * a.out + o; });
            });
  e.mistake("bias-of-first", "Every output gets the first bias; b[o] belongs to output o.", [](const LinearArgs& a) {
    misplaced(
        a, [&](Index o, Index i) { return o * a.in + i; }, [&](Index i, Index s) { return i * a.samples + s; },
        [](Index, Index) { return Index{0}; }, [&](Index o, Index s) { return o * a.samples + s; });
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
