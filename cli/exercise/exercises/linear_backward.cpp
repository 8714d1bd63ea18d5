// The two halves of a linear layer's backward pass: the gradient of the inputs, and that of the weights and the bias.

#include "cli/exercise/exercises/chains.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace linear_backward_parts {

using Index = std::int64_t;

struct DataArgs {
  Index in, out, samples;
  const float *w, *dy;
  float* dx;
};

const SumChain<DataArgs> kDataChain = {
    .results = [](const DataArgs& a) { return a.in * a.samples; },
    .result = [](const DataArgs& a, Index r) { return a.dx + r; },
    .terms = [](const DataArgs& a) { return a.out; },
    .term =
        [](const DataArgs& a, Index r, Index k) {
          return ChainTerm{a.w[k * a.in + r / a.samples], a.dy[k * a.samples + r % a.samples]};
        }};

struct WeightsArgs {
  Index in, out, samples;
  const float *x, *dy;
  float *dw, *db;
};

const SumChain<WeightsArgs> kWeightsChain = {
    .results = [](const WeightsArgs& a) { return a.out * a.in + a.out; },
    .result = [](const WeightsArgs& a, Index r) { return r < a.out * a.in ? a.dw + r : a.db + (r - a.out * a.in); },
    .terms = [](const WeightsArgs& a) { return a.samples; },
    .term =
        [](const WeightsArgs& a, Index r, Index s) {
          if (r >= a.out * a.in) return ChainTerm{a.dy[(r - a.out * a.in) * a.samples + s], 1};
          return ChainTerm{a.dy[r / a.in * a.samples + s], a.x[r % a.in * a.samples + s]};
        }};

void run_weights(const KernelTable<float>& table, const WeightsArgs& a, Index first, Index count,
                 KernelContext& context) {
  const Index bounds[] = {0, a.samples};
  table.linear_backward_weights({.x = dense_matrix(a.x, a.in, a.samples),
                                 .dy = dense_matrix(a.dy + first * a.samples, count, a.samples),
                                 .slots = {bounds},
                                 .dw = dense_matrix(a.dw + first * a.in, count, a.in),
                                 .db = a.db + first},
                                context);
}

/// The right gradients, then changed.
template <class Change>
void changed(const WeightsArgs& a, const Change& change) {
  KernelContext context;
  run_weights(make_naive_table<float>(), a, 0, a.out, context);
  change();
}

constexpr const char* kDataTask =
    R"(A linear layer y = w x + b, backward: the gradient of its inputs from that of its outputs.

    dx[i, s] = sum over o of w[o, i] * dy[o, s]

    w: [out, in]   dy: [out, samples]   dx: [in, samples]

**The order is part of the task.** Each dx is one chain, from 0, for o = 0, 1, ..., out - 1:

    sum = fmaf(w[o, i], dy[o, s], sum)

w is walked through by columns: which loop should be the innermost?)";

constexpr const char* kWeightsTask =
    R"(A linear layer y = w x + b, backward: the gradients of its weights and of its bias.

    dw[o, i] = sum over s of dy[o, s] * x[i, s]        db[o] = sum over s of dy[o, s]

    x: [in, samples]   dy: [out, samples]   dw: [out, in]   db: [out]

**The order is part of the task.** Each dw is one chain over the samples, from 0, for s = 0, 1, ...:
sum = fmaf(dy[o, s], x[i, s], sum). Each db is one chain of additions: sum = sum + dy[o, s]. The gradients are sums over
the batch, not means. samples = 0 gives zeros.)";

}  // namespace linear_backward_parts

Exercise linear_backward_data_exercise() {
  using namespace linear_backward_parts;
  ExerciseOf<DataArgs> e("linear-backward-data", "linear_backward_data");
  e.record.title = "A linear layer, backward: dX";
  e.record.teaches = "The transpose that nobody makes: a matrix read by columns.";
  e.record.needs = {"linear-forward"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kDataTask;
  e.size("in", &DataArgs::in, "inputs of the layer");
  e.size("out", &DataArgs::out, "outputs of the layer");
  e.size("samples", &DataArgs::samples, "samples of the batch");
  e.input(
      "w", &DataArgs::w,
      [](const DataArgs& a) {
        return Dims{a.out, a.in};
      },
      "[out, in]");
  e.input(
      "dy", &DataArgs::dy,
      [](const DataArgs& a) {
        return Dims{a.out, a.samples};
      },
      "[out, samples]");
  e.output(
      "dx", &DataArgs::dx,
      [](const DataArgs& a) {
        return Dims{a.in, a.samples};
      },
      "[in, samples]");
  e.record.shapes = awkward_shapes({65, 33, 65});
  e.record.shapes.push_back({47, 101, 53});
  e.record.timed = {120, 400, 256};
  e.oracle([](const DataArgs& a) {
    KernelContext context;
    make_naive_table<float>().linear_backward_data(
        {dense_matrix(a.w, a.out, a.in), dense_matrix(a.dy, a.out, a.samples), dense_matrix(a.dx, a.in, a.samples)},
        context);
  });
  e.fast([](const DataArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.in, threads, [&](Index first, Index count, KernelContext& context) {
      const ConstMatrix<float> w{a.w + first, a.out, count, a.in};
      table.linear_backward_data(
          {w, dense_matrix(a.dy, a.out, a.samples), dense_matrix(a.dx + first * a.samples, count, a.samples)}, context);
    });
  });
  e.cost([](const DataArgs& a) { return linear_cost(a.in, a.out, a.samples, sizeof(float)); });
  e.terms([](const DataArgs& a) { return a.out; });
  add_chain_mistakes(e, kDataChain);
  const auto misplaced = [](const DataArgs& a, auto&& w, auto&& dy, auto&& dx) {
    for (Index i = 0; i < a.in; ++i)
      for (Index s = 0; s < a.samples; ++s) {
        float sum = 0;
        for (Index o = 0; o < a.out; ++o) sum = __builtin_fmaf(a.w[w(o, i)], a.dy[dy(o, s)], sum);
        a.dx[dx(i, s)] = sum;
      }
  };
  static const auto run = misplaced;
  e.mistake("weights-transposed", "You read w as [in, out]; it is [out, in]: w[o * in + i].", [](const DataArgs& a) {
    run(
        a, [&](Index o, Index i) { return i * a.out + o; }, [&](Index o, Index s) { return o * a.samples + s; },
        [&](Index i, Index s) { return i * a.samples + s; });
  });
  e.mistake("gradient-transposed", "You read dy as [samples, out]; it is [out, samples]: dy[o * samples + s].",
            [](const DataArgs& a) {
              run(
                  a, [&](Index o, Index i) { return o * a.in + i; }, [&](Index o, Index s) { return s * a.out + o; },
                  [&](Index i, Index s) { return i * a.samples + s; });
            });
  e.mistake("outputs-transposed", "You write dx as [samples, in]; it is [in, samples]: dx[i * samples + s].",
            [](const DataArgs& a) {
              run(
                  a, [&](Index o, Index i) { return o * a.in + i; },
                  [&](Index o, Index s) { return o * a.samples + s; }, [&](Index i, Index s) { return s * a.in + i; });
            });
  return std::move(e.record);
}

Exercise linear_backward_weights_exercise() {
  using namespace linear_backward_parts;
  ExerciseOf<WeightsArgs> e("linear-backward-weights", "linear_backward_weights");
  e.record.title = "A linear layer, backward: dW and db";
  e.record.teaches = "A sum over samples: what can be shared out, and what cannot without another order.";
  e.record.needs = {"linear-backward-data"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kWeightsTask;
  e.size("in", &WeightsArgs::in, "inputs of the layer");
  e.size("out", &WeightsArgs::out, "outputs of the layer");
  e.size("samples", &WeightsArgs::samples, "samples of the batch");
  e.input(
      "x", &WeightsArgs::x,
      [](const WeightsArgs& a) {
        return Dims{a.in, a.samples};
      },
      "[in, samples]");
  e.input(
      "dy", &WeightsArgs::dy,
      [](const WeightsArgs& a) {
        return Dims{a.out, a.samples};
      },
      "[out, samples]");
  e.output(
      "dw", &WeightsArgs::dw,
      [](const WeightsArgs& a) {
        return Dims{a.out, a.in};
      },
      "[out, in]");
  e.output(
      "db", &WeightsArgs::db, [](const WeightsArgs& a) { return Dims{a.out}; }, "[out]");
  e.record.shapes = awkward_shapes({65, 33, 65});
  e.record.shapes.push_back({47, 53, 101});
  e.record.timed = {256, 120, 400};
  e.oracle([](const WeightsArgs& a) {
    KernelContext context;
    run_weights(make_naive_table<float>(), a, 0, a.out, context);
  });
  e.fast([](const WeightsArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.out, threads,
               [&](Index first, Index count, KernelContext& context) { run_weights(table, a, first, count, context); });
  });
  e.cost([](const WeightsArgs& a) { return linear_cost(a.in, a.out, a.samples, sizeof(float)); });
  e.terms([](const WeightsArgs& a) { return a.samples; });
  add_chain_mistakes(e, kWeightsChain);
  e.mistake("bias-mean", "db is the mean over the batch; it is the sum.", [](const WeightsArgs& a) {
    changed(a, [&] {
      for (Index o = 0; o < a.out; ++o) a.db[o] /= float(a.samples);
    });
  });
  e.mistake("weights-mean", "dw is the mean over the batch, db the sum; both are sums.", [](const WeightsArgs& a) {
    changed(a, [&] {
      for (Index i = 0; i < a.out * a.in; ++i) a.dw[i] /= float(a.samples);
    });
  });
  e.mistake("no-bias-gradient", "db is 0 everywhere.",
            [](const WeightsArgs& a) { changed(a, [&] { std::fill_n(a.db, a.out, 0.0F); }); });
  e.mistake("minus", "The gradients have the wrong sign.", [](const WeightsArgs& a) {
    changed(a, [&] {
      for (Index i = 0; i < a.out * a.in; ++i) a.dw[i] = -a.dw[i];
      for (Index o = 0; o < a.out; ++o) a.db[o] = -a.db[o];
    });
  });
  e.mistake("outputs-transposed", "You write dw as [in, out]; it is [out, in]: dw[o * in + i].",
            [](const WeightsArgs& a) {
              changed(a, [&] {
                const std::vector<float> right(a.dw, a.dw + a.out * a.in);
                for (Index i = 0; i < a.out * a.in; ++i)
                  a.dw[i % a.in * a.out + i / a.in] = right[static_cast<std::size_t>(i)];
              });
            });
  return std::move(e.record);
}

}  // namespace lockstep::cli
