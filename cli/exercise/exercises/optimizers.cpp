// Two optimiser steps: gradient descent with momentum, and Adam.

#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/optimizer.hpp"
#include "lockstep/kernels/simd/table.hpp"

#include <cmath>

namespace lockstep::cli {

namespace optimizer_parts {

using Index = std::int64_t;

struct SgdArgs {
  Index n;
  float lr, momentum;
  const float* g;
  float *w, *v;
};

struct AdamArgs {
  Index n;
  float rate, inv_root2, beta1, beta2, eps;
  const float* g;
  float *w, *m, *v;
};

SgdStep<float> kernel_args(const SgdArgs& a, Index first, Index count) {
  return {.count = count,
          .lr = a.lr,
          .momentum = a.momentum,
          .nesterov = false,
          .g = a.g + first,
          .w = a.w + first,
          .v = a.v + first};
}
AdamStep<float> kernel_args(const AdamArgs& a, Index first, Index count) {
  return {.count = count,
          .rate = a.rate,
          .inv_root2 = a.inv_root2,
          .beta1 = a.beta1,
          .beta2 = a.beta2,
          .eps = a.eps,
          .decay_factor = 1,
          .g = a.g + first,
          .w = a.w + first,
          .m = a.m + first,
          .v = a.v + first};
}

float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// For every element: step(g, w, v) changes w and v.
template <class Step>
void each(const SgdArgs& a, const Step& step) {
  for (Index i = 0; i < a.n; ++i) step(a.g[i], a.w[i], a.v[i]);
}
template <class Step>
void each(const AdamArgs& a, const Step& step) {
  for (Index i = 0; i < a.n; ++i) step(a.g[i], a.w[i], a.m[i], a.v[i]);
}
/// The moments as they should be.
void moments(const AdamArgs& a, float g, float& m, float& v) {
  m = fma_of(1 - a.beta1, g, a.beta1 * m);
  v = fma_of((1 - a.beta2) * g, g, a.beta2 * v);
}

constexpr const char* kSgdTask = R"(One step of gradient descent with momentum, for every weight:

    v[i] = fmaf(momentum, v[i], g[i])
    w[i] = fmaf(-lr, v[i], w[i])           all arrays: [n]

g is the gradient; w and v are changed in place. The new v moves w.)";

constexpr const char* kAdamTask = R"(One step of Adam, for every weight:

    m[i] = fmaf(1 - beta1, g[i], beta1 * m[i])
    v[i] = fmaf((1 - beta2) * g[i], g[i], beta2 * v[i])
    w[i] = fmaf(-rate, m[i] / fmaf(sqrtf(v[i]), inv_root2, eps), w[i])        all arrays: [n]

rate and inv_root2 hold the corrections of the first steps: rate = lr / (1 - beta1^t), inv_root2 = 1 / sqrt(1 - beta2^t).
w, m and v are changed in place. Everything is float; sqrtf and / round correctly on every machine.)";

}  // namespace optimizer_parts

Exercise sgd_exercise() {
  using namespace optimizer_parts;
  ExerciseOf<SgdArgs> e("sgd", "sgd_step");
  e.record.title = "A step of gradient descent";
  e.record.teaches = "Arrays that are changed in place; five memory accesses for four operations.";
  e.record.needs = {"relu"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kSgdTask;
  e.size("n", &SgdArgs::n, "weights");
  e.scalar("lr", &SgdArgs::lr, "learning rate");
  e.scalar("momentum", &SgdArgs::momentum, "how much of the last step goes on");
  const auto shape = [](const SgdArgs& a) { return Dims{a.n}; };
  e.input("g", &SgdArgs::g, shape, "[n]: the gradient");
  e.both("w", &SgdArgs::w, shape, "[n]: the weights");
  e.both("v", &SgdArgs::v, shape, "[n]: the velocity");
  e.record.shapes = awkward_shapes({1000});
  e.record.shapes.push_back({1009});
  e.record.timed = {1 << 20};
  e.oracle([](const SgdArgs& a) {
    KernelContext context;
    make_naive_table<float>().sgd_step(kernel_args(a, 0, a.n), context);
  });
  e.fast([](const SgdArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.n, threads, [&](Index first, Index count, KernelContext& context) {
      table.sgd_step(kernel_args(a, first, count), context);
    });
  });
  e.cost([](const SgdArgs& a) { return Cost{.flops = 4 * double(a.n), .bytes = 20 * double(a.n)}; });
  e.terms([](const SgdArgs&) { return Index{3}; });
  e.another_order("no-fma", "You multiply and add with two roundings; the contract has one: fmaf.",
                  [](const SgdArgs& a) {
                    each(a, [&](float g, float& w, float& v) {
                      const float kept = a.momentum * v;
                      v = kept + g;
                      const float step = a.lr * v;
                      w = w - step;
                    });
                  });
  e.mistake("plus", "The weights go up the gradient: the sign of the step is wrong.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) { v = fma_of(a.momentum, v, g), w = fma_of(a.lr, v, w); });
  });
  e.mistake("old-velocity", "w moves by the old velocity; v must be updated first.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) { w = fma_of(-a.lr, v, w), v = fma_of(a.momentum, v, g); });
  });
  e.mistake("no-momentum", "The momentum has no influence: v is g.",
            [](const SgdArgs& a) { each(a, [&](float g, float& w, float& v) { v = g, w = fma_of(-a.lr, v, w); }); });
  e.mistake("velocity-not-kept", "w is right, but the velocity is not written back.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) { w = fma_of(-a.lr, fma_of(a.momentum, v, g), w); });
  });
  e.mistake("damped", "You scale the gradient by 1 - momentum: that is a running mean.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) {
      v = fma_of(a.momentum, v, (1 - a.momentum) * g), w = fma_of(-a.lr, v, w);
    });
  });
  e.mistake("nesterov", "You look one step ahead (Nesterov): w moves by momentum * v + g.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) {
      v = fma_of(a.momentum, v, g), w = fma_of(-a.lr, fma_of(a.momentum, v, g), w);
    });
  });
  e.mistake("gradient-only", "w moves by the gradient; the velocity has no influence on it.", [](const SgdArgs& a) {
    each(a, [&](float g, float& w, float& v) { v = fma_of(a.momentum, v, g), w = fma_of(-a.lr, g, w); });
  });
  return std::move(e.record);
}

Exercise adam_exercise() {
  using namespace optimizer_parts;
  ExerciseOf<AdamArgs> e("adam", "adam_step");
  e.record.title = "A step of Adam";
  e.record.teaches = "A formula of several roundings in a fixed sequence; square roots and divisions in vectors.";
  e.record.needs = {"sgd"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kAdamTask;
  e.size("n", &AdamArgs::n, "weights");
  e.scalar("rate", &AdamArgs::rate, "learning rate, corrected");
  e.scalar("inv_root2", &AdamArgs::inv_root2, "correction of the second moment");
  e.scalar("beta1", &AdamArgs::beta1, "share of the old first moment");
  e.scalar("beta2", &AdamArgs::beta2, "share of the old second moment");
  e.scalar("eps", &AdamArgs::eps, "keeps the quotient finite");
  const auto shape = [](const AdamArgs& a) { return Dims{a.n}; };
  e.input("g", &AdamArgs::g, shape, "[n]: the gradient");
  e.both("w", &AdamArgs::w, shape, "[n]: the weights");
  e.both("m", &AdamArgs::m, shape, "[n]: the first moment");
  e.both("v", &AdamArgs::v, shape, "[n]: the second moment");
  e.prepare([](AdamArgs& a, CaseRandom& random) {
    a.beta1 = 0.9F;
    a.beta2 = 0.999F;
    a.eps = 1e-3F;
    a.inv_root2 = 1 + random.uniform();
    for (Index i = 0; i < a.n; ++i) a.v[i] = std::abs(a.v[i]);
  });
  e.record.shapes = awkward_shapes({1000});
  e.record.shapes.push_back({1009});
  e.record.timed = {1 << 19};
  e.oracle([](const AdamArgs& a) {
    KernelContext context;
    make_naive_table<float>().adam_step(kernel_args(a, 0, a.n), context);
  });
  e.fast([](const AdamArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.n, threads, [&](Index first, Index count, KernelContext& context) {
      table.adam_step(kernel_args(a, first, count), context);
    });
  });
  e.cost([](const AdamArgs& a) { return Cost{.flops = 14 * double(a.n), .bytes = 28 * double(a.n)}; });
  e.terms([](const AdamArgs&) { return Index{8}; });
  e.another_order("no-fma", "You multiply and add with two roundings; the contract has fmaf.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      const float old1 = a.beta1 * m, new1 = (1 - a.beta1) * g, old2 = a.beta2 * v, new2 = (1 - a.beta2) * g * g;
      m = old1 + new1;
      v = old2 + new2;
      const float root = std::sqrt(v) * a.inv_root2, step = a.rate * (m / (root + a.eps));
      w = w - step;
    });
  });
  e.mistake("plus", "The weights go up the gradient: the sign of the step is wrong.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      moments(a, g, m, v);
      w = fma_of(a.rate, m / fma_of(std::sqrt(v), a.inv_root2, a.eps), w);
    });
  });
  e.mistake("no-root", "The square root of v is missing.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      moments(a, g, m, v);
      w = fma_of(-a.rate, m / fma_of(v, a.inv_root2, a.eps), w);
    });
  });
  e.mistake("eps-inside", "eps is added inside the square root; it belongs behind it.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      moments(a, g, m, v);
      w = fma_of(-a.rate, m / (std::sqrt(v + a.eps) * a.inv_root2), w);
    });
  });
  e.mistake("no-correction", "inv_root2, the correction of the first steps, is missing.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      moments(a, g, m, v);
      w = fma_of(-a.rate, m / (std::sqrt(v) + a.eps), w);
    });
  });
  e.mistake("gradient-only", "w moves by g; it must move by the first moment m.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      moments(a, g, m, v);
      w = fma_of(-a.rate, g / fma_of(std::sqrt(v), a.inv_root2, a.eps), w);
    });
  });
  e.mistake("betas-exchanged", "beta1 and beta2 are exchanged.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      m = fma_of(1 - a.beta2, g, a.beta2 * m);
      v = fma_of((1 - a.beta1) * g, g, a.beta1 * v);
      w = fma_of(-a.rate, m / fma_of(std::sqrt(v), a.inv_root2, a.eps), w);
    });
  });
  e.mistake("square-missing", "v takes in g; it must take in g * g.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      m = fma_of(1 - a.beta1, g, a.beta1 * m);
      v = fma_of(1 - a.beta2, g, a.beta2 * v);
      w = fma_of(-a.rate, m / fma_of(std::sqrt(v), a.inv_root2, a.eps), w);
    });
  });
  e.mistake("old-moments", "w moves by the old moments; m and v must be updated first.", [](const AdamArgs& a) {
    each(a, [&](float g, float& w, float& m, float& v) {
      w = fma_of(-a.rate, m / fma_of(std::sqrt(v), a.inv_root2, a.eps), w);
      moments(a, g, m, v);
    });
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
