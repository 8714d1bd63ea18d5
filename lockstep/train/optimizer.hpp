#pragma once
// Optimisers and learning-rate schedules as values. The formulas stand in kernels/optimizer.hpp.

#include <cstdint>
#include <string>
#include <variant>

namespace lockstep {

/// Gradient descent; with momentum, and with Nesterov's form of it.
struct Sgd {
  double lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
};
struct Adam {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
};
/// Adam with decoupled decay of the weights (never of biases and scales).
struct AdamW {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
};
struct RmsProp {
  double lr = 0.01, alpha = 0.99, eps = 1e-8;
};

using OptimizerSpec = std::variant<Sgd, Adam, AdamW, RmsProp>;

double base_rate(const OptimizerSpec& optimizer);
/// State vectors per parameter: 0 to 2.
int state_vectors(const OptimizerSpec& optimizer);

enum class ScheduleKind { constant, step, cosine };

/// The learning rate as a factor of the optimiser's lr. Steps count from 0.
///   warm-up: the first warmup_steps steps use (step + 1) / warmup_steps of what follows
///   step:    factor^(epoch / every), epoch from 0
///   cosine:  final + (1 - final) * (1 + cos(pi * step / total_steps)) / 2
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t every = 10;  // epochs
  double factor = 0.1;
  double final = 0;
};

double schedule_factor(const Schedule& schedule, std::int64_t step, std::int64_t epoch, std::int64_t total_steps);

}  // namespace lockstep
