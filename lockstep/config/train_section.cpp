#include <fmt/format.h>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/kernels/slots.hpp"

namespace lockstep {

namespace {

const std::vector<std::string> kOptimizers = {"sgd", "momentum", "nesterov", "adam", "adamw", "rmsprop"};
const std::vector<std::string> kSchedules = {"constant", "step", "cosine"};
const std::vector<std::string> kReductions = {"mean", "sum"};
constexpr double kDefaultMomentum = 0.9;

OptimizerSpec read_sgd(const Value& value, const std::string& path, const std::string& name) {
  const bool with_momentum = name != "sgd";
  std::vector<std::string> known = {"name", "lr"};
  if (with_momentum) known.emplace_back("momentum");
  // A user who knows another framework may write sgd with momentum: say what it is called here.
  if (!with_momentum && value.find("momentum") != nullptr)
    fail_at(*value.find("momentum"), path + ".momentum", "\"sgd\" has none; write name = \"momentum\" or \"nesterov\"");
  const TableReader table(value, path, known);
  Sgd sgd{.momentum = with_momentum ? kDefaultMomentum : 0, .nesterov = name == "nesterov"};
  table.read("lr", sgd.lr, kPositive);
  if (with_momentum) table.read("momentum", sgd.momentum, kProperFraction);
  return sgd;
}

/// Adam and AdamW share all but the decay.
template <class Spec>
OptimizerSpec read_adam(const Value& value, const std::string& path) {
  constexpr bool kDecays = std::is_same_v<Spec, AdamW>;
  std::vector<std::string> known = {"name", "lr", "beta1", "beta2", "eps"};
  if (kDecays) known.emplace_back("weight_decay");
  const TableReader table(value, path, known);
  Spec spec;
  table.read("lr", spec.lr, kPositive);
  table.read("beta1", spec.beta1, kFraction);
  table.read("beta2", spec.beta2, kFraction);
  table.read("eps", spec.eps, kPositive);
  if constexpr (kDecays) table.read("weight_decay", spec.weight_decay, kNotNegative);
  return spec;
}

OptimizerSpec read_optimizer(const Value& value) {
  const std::string path = "train.optimizer";
  const NamedChoice choice = as_named(value, path, kOptimizers);
  const std::string& name = kOptimizers[choice.index];
  if (name == "adam") return read_adam<Adam>(choice.table, path);
  if (name == "adamw") return read_adam<AdamW>(choice.table, path);
  if (name != "rmsprop") return read_sgd(choice.table, path, name);
  const TableReader table(choice.table, path, {"name", "lr", "alpha", "eps"});
  RmsProp spec;
  table.read("lr", spec.lr, kPositive);
  table.read("alpha", spec.alpha, kFraction);
  table.read("eps", spec.eps, kPositive);
  return spec;
}

Schedule read_schedule(const Value& value) {
  const std::string path = "train.schedule";
  const NamedChoice choice = as_named(value, path, kSchedules);
  Schedule schedule;
  schedule.kind = static_cast<ScheduleKind>(choice.index);
  std::vector<std::string> known = {"name", "warmup_steps"};
  if (schedule.kind == ScheduleKind::step) known.insert(known.end(), {"every", "factor"});
  if (schedule.kind == ScheduleKind::cosine) known.emplace_back("final");
  const TableReader table(choice.table, path, known);
  table.read("warmup_steps", schedule.warmup_steps, {0, 1'000'000'000});
  if (schedule.kind == ScheduleKind::step) {
    table.read("every", schedule.every, {1, 1'000'000'000});
    table.read("factor", schedule.factor, {.max = 1, .open_min = true});
  }
  if (schedule.kind == ScheduleKind::cosine) table.read("final", schedule.final, {.max = 1});
  return schedule;
}

/// A number, or a word that stands for 0.
std::int64_t read_or_word(const Value& value, const std::string& path, const std::string& word, IntRange range) {
  if (value.string() == nullptr) return as_integer(value, path, range);
  if (*value.string() != word)
    fail_at(value, path,
            fmt::format("must be \"{}\" or a whole number from {} to {}, got {}", word, range.min, range.max,
                        excerpt(value)));
  return 0;
}

}  // namespace

const std::vector<std::string>& train_keys() {
  static const std::vector<std::string> keys = {"loss", "optimizer", "schedule", "batch",     "slots",  "epochs",
                                                "seed", "reduction", "l2",       "clip_norm", "shuffle"};
  return keys;
}

void read_train(const Value& section, RunConfig& config) {
  const TableReader table(section, "train", train_keys(), all_keys());
  TrainOptions& train = config.train;
  if (const auto loss = table.choice("loss", loss_names())) train.loss = static_cast<Loss>(*loss);
  if (const Value* optimizer = table.find("optimizer")) train.optimizer = read_optimizer(*optimizer);
  if (const Value* schedule = table.find("schedule")) train.schedule = read_schedule(*schedule);
  if (const Value* batch = table.find("batch"))
    train.batch = read_or_word(*batch, "train.batch", "full", {1, 1'000'000'000});
  if (const Value* slots = table.find("slots")) {
    train.slots = read_or_word(*slots, "train.slots", "auto", {1, kMaxSlots});
    if ((train.slots & (train.slots - 1)) != 0)
      table.fail("slots", fmt::format("must be \"auto\" or a power of two up to {}, got {}", kMaxSlots, train.slots));
  }
  if (const auto reduction = table.choice("reduction", kReductions))
    train.reduction = static_cast<Reduction>(*reduction);
  table.read("l2", train.l2, kNotNegative);
  table.read("clip_norm", train.clip_norm, kNotNegative);
  table.read("shuffle", train.shuffle);
  table.read("seed", train.seed, {0});
  table.read("epochs", config.epochs, {0, 1'000'000'000});
}

}  // namespace lockstep
