#pragma once
// Optimisers and learning-rate schedules as records (core/fields.hpp). The formulas stand in kernels/optimizer.hpp;
// step() calls the kernel. To add an optimiser: its kernel, a record here, and a word in the list OptimizerSpec.

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>

#include "lockstep/core/fields.hpp"
#include "lockstep/core/names.hpp"
#include "lockstep/train/step_range.hpp"
#include "lockstep/train/watch.hpp"

namespace lockstep {

namespace optimizer_detail {
inline constexpr const char* kRate = "learning rate";
inline constexpr const char* kBeta1 = "decay of the mean of gradients";
inline constexpr const char* kBeta2 = "decay of the mean of squared gradients";
inline constexpr const char* kEps = "added to the denominator";
inline constexpr const char* kDecay = "decay of the weights, apart from the gradient (never of biases and scales)";

/// The step of gradient descent, with and without momentum.
template <class T>
void descend(const StepRange<T>& r, double momentum, bool nesterov) {
  r.kernels.sgd_step({.count = r.count,
                      .lr = T(r.rate),
                      .momentum = T(momentum),
                      .nesterov = nesterov,
                      .g = r.g,
                      .w = r.w,
                      .v = r.first},
                     r.context);
}

/// The step of Adam and AdamW.
template <class T>
void adam(const StepRange<T>& r, const auto& o, T decay_factor) {
  r.kernels.adam_step({.count = r.count,
                       .rate = T(r.rate / r.bias(o.beta1)),
                       .inv_root2 = T(1 / std::sqrt(r.bias(o.beta2))),
                       .beta1 = T(o.beta1),
                       .beta2 = T(o.beta2),
                       .eps = T(o.eps),
                       .decay_factor = decay_factor,
                       .g = r.g,
                       .w = r.w,
                       .m = r.first,
                       .v = r.second},
                      r.context);
}

}  // namespace optimizer_detail

struct Sgd {
  double lr = 0.01;

  static constexpr const char* kName = "sgd";
  static constexpr const char* kHelp = "gradient descent";
  static constexpr int kStateVectors = 0;  // per parameter
  static constexpr auto fields() { return std::tuple{field("lr", &Sgd::lr, kPositive, optimizer_detail::kRate)}; }
  /// Users of other frameworks write sgd with momentum: say what it is called here.
  static constexpr std::pair<const char*, const char*> kElsewhere{
      "momentum", "\"sgd\" has none; write name = \"momentum\" or \"nesterov\""};
  template <class T>
  void step(const StepRange<T>& r) const {
    optimizer_detail::descend(r, 0, false);
  }
};

/// Gradient descent with momentum, and with Nesterov's form of it.
template <bool nesterov>
struct MomentumDescent {
  double lr = 0.01, momentum = 0.9;

  static constexpr const char* kName = nesterov ? "nesterov" : "momentum";
  static constexpr const char* kHelp =
      nesterov ? "gradient descent with Nesterov's momentum" : "gradient descent with momentum";
  static constexpr int kStateVectors = 1;
  static constexpr auto fields() {
    return std::tuple{
        field("lr", &MomentumDescent::lr, kPositive, optimizer_detail::kRate),
        field("momentum", &MomentumDescent::momentum, kProperFraction, "share of the last step that is kept")};
  }
  template <class T>
  void step(const StepRange<T>& r) const {
    optimizer_detail::descend(r, momentum, nesterov);
  }
};
using Momentum = MomentumDescent<false>;
using Nesterov = MomentumDescent<true>;

struct Adam {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  static constexpr const char* kName = "adam";
  static constexpr const char* kHelp = "Adam (Kingma and Ba 2015)";
  static constexpr int kStateVectors = 2;
  static constexpr auto fields() {
    return std::tuple{field("lr", &Adam::lr, kPositive, optimizer_detail::kRate),
                      field("beta1", &Adam::beta1, kFraction, optimizer_detail::kBeta1),
                      field("beta2", &Adam::beta2, kFraction, optimizer_detail::kBeta2),
                      field("eps", &Adam::eps, kPositive, optimizer_detail::kEps)};
  }
  template <class T>
  void step(const StepRange<T>& r) const {
    optimizer_detail::adam(r, *this, T(1));
  }
};

struct AdamW {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;

  static constexpr const char* kName = "adamw";
  static constexpr const char* kHelp = "Adam with decoupled decay of the weights (Loshchilov and Hutter 2019)";
  static constexpr int kStateVectors = 2;
  static constexpr auto fields() {
    return std::tuple{field("lr", &AdamW::lr, kPositive, optimizer_detail::kRate),
                      field("beta1", &AdamW::beta1, kFraction, optimizer_detail::kBeta1),
                      field("beta2", &AdamW::beta2, kFraction, optimizer_detail::kBeta2),
                      field("eps", &AdamW::eps, kPositive, optimizer_detail::kEps),
                      field("weight_decay", &AdamW::weight_decay, kNotNegative, optimizer_detail::kDecay)};
  }
  template <class T>
  void step(const StepRange<T>& r) const {
    optimizer_detail::adam(r, *this, r.decay_factor(weight_decay));
  }
};

struct RmsProp {
  double lr = 0.01, alpha = 0.99, eps = 1e-8;

  static constexpr const char* kName = "rmsprop";
  static constexpr const char* kHelp = "RMSProp (Tieleman and Hinton 2012)";
  static constexpr int kStateVectors = 1;
  static constexpr auto fields() {
    return std::tuple{field("lr", &RmsProp::lr, kPositive, optimizer_detail::kRate),
                      field("alpha", &RmsProp::alpha, kFraction, optimizer_detail::kBeta2),
                      field("eps", &RmsProp::eps, kPositive, optimizer_detail::kEps)};
  }
  template <class T>
  void step(const StepRange<T>& r) const {
    r.kernels.rmsprop_step(
        {.count = r.count, .lr = T(r.rate), .alpha = T(alpha), .eps = T(eps), .g = r.g, .w = r.w, .v = r.first},
        r.context);
  }
};

struct Lion {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;

  static constexpr const char* kName = "lion";
  static constexpr const char* kHelp = "sign of the mean of gradients (Chen et al. 2023)";
  static constexpr int kStateVectors = 1;
  static constexpr auto fields() {
    return std::tuple{field("lr", &Lion::lr, kPositive, optimizer_detail::kRate),
                      field("beta1", &Lion::beta1, kFraction, "weight of the mean against the gradient, in a step"),
                      field("beta2", &Lion::beta2, kFraction, optimizer_detail::kBeta1),
                      field("weight_decay", &Lion::weight_decay, kNotNegative, optimizer_detail::kDecay)};
  }
  template <class T>
  void step(const StepRange<T>& r) const {
    r.kernels.lion_step({.count = r.count,
                         .lr = T(r.rate),
                         .beta1 = T(beta1),
                         .beta2 = T(beta2),
                         .decay_factor = r.decay_factor(weight_decay),
                         .g = r.g,
                         .w = r.w,
                         .m = r.first},
                        r.context);
  }
};

/// The list of optimisers.
using OptimizerSpec = std::variant<Sgd, Momentum, Nesterov, Adam, AdamW, RmsProp, Lion>;

double base_rate(const OptimizerSpec& optimizer);
/// State vectors per parameter: 0 to 2.
int state_vectors(const OptimizerSpec& optimizer);

enum class ScheduleKind { constant, step, cosine, one_cycle, plateau };

constexpr Described describe(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return {"constant", "the learning rate stays"};
    case ScheduleKind::step:
      return {"step", "lr * factor^(epoch / every), epoch from 0"};
    case ScheduleKind::cosine:
      return {"cosine", "lr * (final + (1 - final) * (1 + cos(pi * step / steps)) / 2)"};
    case ScheduleKind::one_cycle:
      return {
          "one-cycle",
          "up from lr * start to lr in the share `peak` of the steps, then down to lr * final, both by half a cosine"};
    case ScheduleKind::plateau:
      return {"plateau", "lr * factor after every `patience` epochs whose validation did not gain"};
  }
  return {};
}

/// The learning rate as a factor of the optimiser's lr; describe() has the formulas. Steps count from 0.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t every = 10;  // epochs
  double factor = 0.1;
  double final = 0;
  double start = 0.04, peak = 0.3;
  std::int64_t patience = 5;  // epochs
  std::string metric = "loss";
  double min_gain = 0;

  static constexpr auto fields() {
    constexpr auto is_step = [](const Schedule& s) { return s.kind == ScheduleKind::step; };
    constexpr auto is_one_cycle = [](const Schedule& s) { return s.kind == ScheduleKind::one_cycle; };
    constexpr auto is_plateau = [](const Schedule& s) { return s.kind == ScheduleKind::plateau; };
    constexpr auto drops = [](const Schedule& s) {
      return s.kind == ScheduleKind::step || s.kind == ScheduleKind::plateau;
    };
    constexpr auto ends = [](const Schedule& s) {
      return s.kind == ScheduleKind::cosine || s.kind == ScheduleKind::one_cycle || s.kind == ScheduleKind::plateau;
    };
    constexpr auto known = [](const Schedule& s) { return metric_name_fault(s.metric); };
    constexpr IntRange upto{1, 1'000'000'000};
    return std::tuple{
        field("warmup_steps", &Schedule::warmup_steps, IntRange{0, upto.max},
              "the first steps use (step + 1) / warmup_steps of the rate"),
        field("every", &Schedule::every, upto, "epochs from drop to drop").when(is_step),
        field("factor", &Schedule::factor, kShare, "of each drop").when(drops),
        field("final", &Schedule::final, NumberRange{.max = 1}, "share of the rate at the end; plateau: the smallest")
            .when(ends),
        field("start", &Schedule::start, NumberRange{.max = 1}, "share of the rate in the first step")
            .when(is_one_cycle),
        field("peak", &Schedule::peak, kProperFraction, "share of the steps in which the rate rises")
            .when(is_one_cycle),
        field("patience", &Schedule::patience, upto, "epochs without a gain before a drop").when(is_plateau),
        field("metric", &Schedule::metric, watch_detail::kMetric).when(is_plateau).check(known),
        field("min_gain", &Schedule::min_gain, kNotNegative, watch_detail::kGain).when(is_plateau)};
  }
};

/// `drops`: of plateau, so far.
double schedule_factor(const Schedule& schedule, std::int64_t step, std::int64_t epoch, std::int64_t total_steps,
                       std::int64_t drops = 0);

}  // namespace lockstep
