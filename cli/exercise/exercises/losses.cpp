// The binary cross-entropy, and the whole cost function of a network with one hidden layer.

#include "cli/exercise/exercises/helpers.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

#include <cmath>

namespace lockstep::cli {

namespace loss_parts {

using Index = std::int64_t;

struct EntropyArgs {
  Index outputs, samples;
  float scale;
  const float *z, *t;
  float *loss, *dz;
};

void run(const KernelTable<float>& table, const EntropyArgs& a, Index first, Index count, KernelContext& context) {
  const auto columns = [&](auto* data) {
    return MatrixView<std::remove_pointer_t<decltype(data)>>{data + first, a.outputs, count, a.samples};
  };
  table.loss_gradient({.kind = Loss::binary_cross_entropy,
                       .scale = a.scale,
                       .z = columns(a.z),
                       .targets = {.labels = nullptr, .values = columns(a.t)},
                       .loss = a.loss + first,
                       .dz = columns(a.dz)},
                      context);
}

/// term(z, t) of every output, added up; gradient(z, t).
template <class Term, class Gradient>
void each(const EntropyArgs& a, const Term& term, const Gradient& gradient) {
  for (Index s = 0; s < a.samples; ++s) {
    float sum = 0;
    for (Index k = 0; k < a.outputs; ++k) {
      const float z = a.z[k * a.samples + s], t = a.t[k * a.samples + s];
      sum = sum + term(z, t);
      a.dz[k * a.samples + s] = gradient(z, t);
    }
    a.loss[s] = sum;
  }
}

float entropy(float z, float t) { return __builtin_fmaf(-z, t, z > 0 ? z : 0) + math::log1p(math::exp(-std::abs(z))); }
auto slope(const EntropyArgs& a) {
  return [&a](float z, float t) { return a.scale * (math::sigmoid(z) - t); };
}

struct CostArgs {
  Index in, hidden, out, samples;
  const float *x, *w1, *b1, *w2, *b2, *t;
  float *h, *z, *loss, *cost;
};

/// Hidden layer and outputs by the kernels of a table.
void forward(const KernelTable<float>& table, const CostArgs& a, KernelContext& context) {
  const Matrix<float> h = dense_matrix(a.h, a.hidden, a.samples), z = dense_matrix(a.z, a.out, a.samples);
  table.linear_forward(
      {.x = dense_matrix(a.x, a.in, a.samples), .w = dense_matrix(a.w1, a.hidden, a.in), .b = a.b1, .y = h}, context);
  table.activation_forward({ActivationKind::sigmoid, 1, h, h}, context);
  table.linear_forward({.x = h, .w = dense_matrix(a.w2, a.out, a.hidden), .b = a.b2, .y = z}, context);
}
void losses(const KernelTable<float>& table, const CostArgs& a, KernelContext& context) {
  table.loss_gradient({.kind = Loss::binary_cross_entropy,
                       .z = dense_matrix(static_cast<const float*>(a.z), a.out, a.samples),
                       .targets = {.labels = nullptr, .values = dense_matrix(a.t, a.out, a.samples)},
                       .loss = a.loss},
                      context);
}
float total(const CostArgs& a) {
  float sum = 0;
  for (Index s = 0; s < a.samples; ++s) sum = sum + a.loss[s];
  return sum;
}
void right_cost(const KernelTable<float>& table, const CostArgs& a) {
  KernelContext context;
  forward(table, a, context);
  losses(table, a, context);
  a.cost[0] = total(a) / float(a.samples);
}

/// 0, 1 and some between them.
void make_targets(const float* targets, Index count, CaseRandom& random) {
  auto* const t = const_cast<float*>(targets);
  for (Index i = 0; i < count; ++i) t[i] = random.below(3) == 0 ? random.uniform() : float(random.below(2));
}

constexpr const char* kEntropyTask = R"(The binary cross-entropy of outputs z before their sigmoid, and its gradient:

    loss[s]  = sum over k of max(z, 0) - z t + log(1 + exp(-|z|))        z = z[k, s], t = t[k, s]
    dz[k, s] = scale * (sigmoid(z) - t)

    z, t, dz: [outputs, samples]   loss: [samples]

This is -t log p - (1 - t) log(1 - p) with p = sigmoid(z), without the logarithm of a number near 0. Each term is

    fmaf(-z, t, z > 0 ? z : 0) + contract_log1p(contract_exp(-|z|))

and loss[s] is a chain of additions over k = 0, 1, ..., from 0. contract_sigmoid is in the header too.)";

constexpr const char* kCostTask =
    R"(The whole cost function of a network with one hidden layer, 400-25-10 in the classic course:

    h = sigmoid(w1 x + b1)        z = w2 h + b2        loss[s] = binary cross-entropy of column s of z and t
    cost[0] = (loss[0] + loss[1] + ...) / samples      a chain of additions from 0, then one division

    x: [in, samples]   w1: [hidden, in]   b1: [hidden]   w2: [out, hidden]   b2: [out]   t: [out, samples]
    h: [hidden, samples]   z: [out, samples]   loss: [samples]   cost: [1]

The parts are those of the exercises linear-forward, sigmoid and binary-cross-entropy, with the same orders. The header
has contract_exp, contract_sigmoid and contract_log1p. samples is at least 1.)";

}  // namespace loss_parts

Exercise binary_cross_entropy_exercise() {
  using namespace loss_parts;
  ExerciseOf<EntropyArgs> e("binary-cross-entropy", "binary_cross_entropy");
  e.record.title = "Binary cross-entropy and its gradient";
  e.record.teaches = "A loss that never takes the logarithm of 0; sums over rows, samples side by side.";
  e.record.needs = {"sigmoid"};
  e.record.tracks = {"cpp", "simd", "openmp", "cuda"};
  e.record.task = kEntropyTask;
  e.record.helpers = std::string(kExpHelper) + kSigmoidHelper + kLogHelper;
  e.size("outputs", &EntropyArgs::outputs, "of the network");
  e.size("samples", &EntropyArgs::samples, "of the batch");
  e.scalar("scale", &EntropyArgs::scale, "of the gradient: 1 / samples for a mean");
  const auto shape = [](const EntropyArgs& a) { return Dims{a.outputs, a.samples}; };
  e.input("z", &EntropyArgs::z, shape, "[outputs, samples]");
  e.input("t", &EntropyArgs::t, shape, "[outputs, samples]: from 0 to 1");
  e.output(
      "loss", &EntropyArgs::loss, [](const EntropyArgs& a) { return Dims{a.samples}; }, "[samples]");
  e.output("dz", &EntropyArgs::dz, shape, "[outputs, samples]");
  e.prepare([](EntropyArgs& a, CaseRandom& random) {
    auto* const z = const_cast<float*>(a.z);
    for (Index i = 0; i < a.outputs * a.samples; ++i) z[i] *= random.below(10) == 0 ? 100.0F : 5.0F;
    make_targets(a.t, a.outputs * a.samples, random);
    a.scale = 1 / float(std::max<Index>(a.samples, 1) + 2);
  });
  e.record.shapes = awkward_shapes({33, 65});
  e.record.timed = {10, 20000};
  e.oracle([](const EntropyArgs& a) {
    KernelContext context;
    run(make_naive_table<float>(), a, 0, a.samples, context);
  });
  e.fast([](const EntropyArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.samples, threads,
               [&](Index first, Index count, KernelContext& context) { run(table, a, first, count, context); });
  });
  e.cost([](const EntropyArgs& a) { return loss_cost(a.outputs, a.samples, sizeof(float)); });
  e.terms([](const EntropyArgs& a) { return 8 + a.outputs; });
  e.another_order("no-fma", "max(z, 0) - z * t is rounded twice; the contract has fmaf(-z, t, ...).",
                  [](const EntropyArgs& a) {
                    each(
                        a,
                        [](float z, float t) {
                          const float p = z * t;
                          return ((z > 0 ? z : 0) - p) + math::log1p(math::exp(-std::abs(z)));
                        },
                        slope(a));
                  });
  e.another_order(
      "library", "You call expf and log1pf of the C library; use those of the header.", [](const EntropyArgs& a) {
        each(
            a,
            [](float z, float t) { return __builtin_fmaf(-z, t, z > 0 ? z : 0) + std::log1p(std::exp(-std::abs(z))); },
            slope(a));
      });
  e.another_order("descending", "You add the outputs from the last to the first.", [](const EntropyArgs& a) {
    each(a, entropy, slope(a));
    for (Index s = 0; s < a.samples; ++s) {
      float sum = 0;
      for (Index k = a.outputs; k-- > 0;) sum += entropy(a.z[k * a.samples + s], a.t[k * a.samples + s]);
      a.loss[s] = sum;
    }
  });
  e.mistake("no-scale", "dz is not multiplied by scale: the gradient of a sum, not of the mean.",
            [](const EntropyArgs& a) { each(a, entropy, [](float z, float t) { return math::sigmoid(z) - t; }); });
  e.mistake("sign", "dz has the wrong sign: it is sigmoid(z) - t.", [](const EntropyArgs& a) {
    each(a, entropy, [&](float z, float t) { return a.scale * (t - math::sigmoid(z)); });
  });
  e.mistake("no-sigmoid", "dz is scale * (z - t): the sigmoid is missing.",
            [](const EntropyArgs& a) { each(a, entropy, [&](float z, float t) { return a.scale * (z - t); }); });
  e.mistake("scaled-loss", "The loss is multiplied by scale; only the gradient is.", [](const EntropyArgs& a) {
    each(a, entropy, slope(a));
    for (Index s = 0; s < a.samples; ++s) a.loss[s] = a.scale * a.loss[s];
  });
  e.mistake("mean-of-outputs", "The loss is the mean over the outputs; it is their sum.", [](const EntropyArgs& a) {
    each(a, entropy, slope(a));
    for (Index s = 0; s < a.samples; ++s) a.loss[s] /= float(a.outputs);
  });
  e.mistake("last-output", "The last output is left out of the loss.", [](const EntropyArgs& a) {
    each(a, entropy, slope(a));
    for (Index s = 0; s < a.samples; ++s) {
      a.loss[s] = 0;
      for (Index k = 0; k + 1 < a.outputs; ++k) a.loss[s] += entropy(a.z[k * a.samples + s], a.t[k * a.samples + s]);
    }
  });
  return std::move(e.record);
}

Exercise cost_exercise() {
  using namespace loss_parts;
  ExerciseOf<CostArgs> e("cost", "network_cost");
  e.record.title = "The cost function of 400-25-10";
  e.record.teaches = "Parts become a program: two layers, a loss, one number; what its time is made of.";
  e.record.needs = {"linear-forward", "binary-cross-entropy"};
  e.record.tracks = {"cpp", "simd", "openmp"};
  e.record.task = kCostTask;
  e.record.helpers = std::string(kExpHelper) + kSigmoidHelper + kLogHelper;
  e.size("in", &CostArgs::in, "inputs");
  e.size("hidden", &CostArgs::hidden, "units of the hidden layer");
  e.size("out", &CostArgs::out, "outputs");
  e.size("samples", &CostArgs::samples, "of the data set, at least 1");
  e.input(
      "x", &CostArgs::x,
      [](const CostArgs& a) {
        return Dims{a.in, a.samples};
      },
      "[in, samples]");
  e.input(
      "w1", &CostArgs::w1,
      [](const CostArgs& a) {
        return Dims{a.hidden, a.in};
      },
      "[hidden, in]");
  e.input(
      "b1", &CostArgs::b1, [](const CostArgs& a) { return Dims{a.hidden}; }, "[hidden]");
  e.input(
      "w2", &CostArgs::w2,
      [](const CostArgs& a) {
        return Dims{a.out, a.hidden};
      },
      "[out, hidden]");
  e.input(
      "b2", &CostArgs::b2, [](const CostArgs& a) { return Dims{a.out}; }, "[out]");
  e.input(
      "t", &CostArgs::t,
      [](const CostArgs& a) {
        return Dims{a.out, a.samples};
      },
      "[out, samples]: from 0 to 1");
  e.output(
      "h", &CostArgs::h,
      [](const CostArgs& a) {
        return Dims{a.hidden, a.samples};
      },
      "[hidden, samples]");
  e.output(
      "z", &CostArgs::z,
      [](const CostArgs& a) {
        return Dims{a.out, a.samples};
      },
      "[out, samples]");
  e.output(
      "loss", &CostArgs::loss, [](const CostArgs& a) { return Dims{a.samples}; }, "[samples]");
  e.output(
      "cost", &CostArgs::cost, [](const CostArgs&) { return Dims{1}; }, "[1]");
  e.prepare([](CostArgs& a, CaseRandom& random) { make_targets(a.t, a.out * a.samples, random); });
  e.record.legal = [](const CaseShape& s) { return s[3] >= 1; };
  for (CaseShape shape : awkward_shapes({65, 17, 10, 33})) {
    shape[3] = std::max<Index>(shape[3], 1);
    e.record.shapes.push_back(shape);
  }
  e.record.timed = {400, 25, 10, 500};
  e.oracle([](const CostArgs& a) { right_cost(make_naive_table<float>(), a); });
  e.fast([](const CostArgs& a, int) { right_cost(make_simd_table<float>(), a); });
  e.cost([](const CostArgs& a) {
    return linear_cost(a.in, a.hidden, a.samples, sizeof(float)) +
           linear_cost(a.hidden, a.out, a.samples, sizeof(float));
  });
  e.terms([](const CostArgs& a) { return a.in + a.hidden + a.out + a.samples + 16; });
  const auto changed = [](const CostArgs& a, auto&& change) {
    right_cost(make_naive_table<float>(), a);
    change();
  };
  static const auto change_of = changed;
  e.mistake("sum", "The cost is the sum over the samples; it is divided by their number.",
            [](const CostArgs& a) { change_of(a, [&] { a.cost[0] = total(a); }); });
  e.mistake("mean-of-outputs", "The cost is divided by the outputs too.",
            [](const CostArgs& a) { change_of(a, [&] { a.cost[0] = a.cost[0] / float(a.out); }); });
  e.mistake("last-sample", "The last sample is missing in the cost.", [](const CostArgs& a) {
    change_of(a, [&] {
      float sum = 0;
      for (Index s = 0; s + 1 < a.samples; ++s) sum = sum + a.loss[s];
      a.cost[0] = sum / float(a.samples);
    });
  });
  e.another_order("inverse", "You multiply by 1 / samples; the contract divides.",
                  [](const CostArgs& a) { change_of(a, [&] { a.cost[0] = total(a) * (1 / float(a.samples)); }); });
  e.another_order("cost-in-double", "You add the losses in double.", [](const CostArgs& a) {
    change_of(a, [&] {
      double sum = 0;
      for (Index s = 0; s < a.samples; ++s) sum += double(a.loss[s]);
      a.cost[0] = float(sum / double(a.samples));
    });
  });
  e.mistake("no-sigmoid", "The hidden layer has no sigmoid.", [](const CostArgs& a) {
    KernelContext context;
    const auto table = make_naive_table<float>();
    const Matrix<float> h = dense_matrix(a.h, a.hidden, a.samples);
    table.linear_forward(
        {.x = dense_matrix(a.x, a.in, a.samples), .w = dense_matrix(a.w1, a.hidden, a.in), .b = a.b1, .y = h}, context);
    table.linear_forward(
        {.x = h, .w = dense_matrix(a.w2, a.out, a.hidden), .b = a.b2, .y = dense_matrix(a.z, a.out, a.samples)},
        context);
    losses(table, a, context);
    a.cost[0] = total(a) / float(a.samples);
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
