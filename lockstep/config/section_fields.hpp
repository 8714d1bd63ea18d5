#pragma once
// The keys of the sections [train], [checkpoint], [log], [guard] and [parallel] (core/fields.hpp), in the order in
// which they are written. Those of [data] stand in data/data_fields.hpp; [model] is read and written by
// model_section.cpp.

#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/kernels/slots.hpp"

namespace lockstep {

constexpr Described describe(Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return {"mean", "of the samples' gradients"};
    case Reduction::sum:
      return {"sum", "of the samples' gradients"};
  }
  return {};
}

constexpr Described describe(RankReduction reduction) {
  switch (reduction) {
    case RankReduction::tree:
      return {"tree", "the slot tree"};
    case RankReduction::gather:
      return {"gather", "rank 0 adds up and updates, as in the textbook; the same bits"};
    case RankReduction::library:
      return {"mpi", "MPI_Allreduce; bits that depend on the number of ranks"};
  }
  return {};
}

constexpr Described describe(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::one_forward_one_backward:
      return {"1f1b", "few chunks in flight"};
    case PipelineSchedule::gpipe:
      return {"gpipe", "all forwards first"};
  }
  return {};
}

/// train.epochs is the run's, all else the trainer's.
inline constexpr auto train_fields() {
  constexpr IntRange many{1, 1'000'000'000};
  const auto power_of_two = [](const RunConfig& c) {
    if ((c.train.slots & (c.train.slots - 1)) == 0) return std::string();
    return fmt::format("must be \"auto\" or a power of two up to {}, got {}", kMaxSlots, c.train.slots);
  };
  const auto of = [](const char* name, auto member, auto range, const char* help) {
    return field_in<RunConfig>(
        name, [member](auto& c) -> auto& { return c.train.*member; }, range, help);
  };
  using T = TrainOptions;
  return std::tuple{
      of("loss", &T::loss, AnyValue{}, "see [losses](#losses)"),
      of("label_smoothing", &T::label_smoothing, kFraction,
         "cross-entropy: this share of a label goes to all classes alike, in training only")
          .quiet(),
      of("focal_gamma", &T::focal_gamma, IntRange{1, kMostGamma}, "focal: the exponent").quiet(),
      of("huber_delta", &T::huber_delta, kPositive, "huber: where squares end").quiet(),
      of("optimizer", &T::optimizer, AnyValue{}, "a name or a table, see [optimisers](#optimisers)"),
      of("schedule", &T::schedule, AnyValue{}, "a name or a table, see [schedules](#schedules)"),
      of("batch", &T::batch, many, "samples per step").or_zero("full"),
      of("slots", &T::slots, IntRange{1, kMaxSlots}, "a power of two; see [numerics.md](numerics.md)")
          .or_zero("auto")
          .check(power_of_two),
      of("reduction", &T::reduction, AnyValue{}, "gradients of a batch"),
      of("class_weights", &T::class_weights, AnyValue{},
         "how much the samples of each class count: `\"balanced\"`, or a list with one number per class; see "
         "[weights](#weights)")
          .quiet(),
      of("l2", &T::l2, kNotNegative, "adds l2/2 times the sum of squared weights to the loss (biases excluded)"),
      of("clip_norm", &T::clip_norm, kNotNegative, "longer gradients are scaled down to this norm; 0: never"),
      of("truncate", &T::truncate, IntRange{0, many.max},
         "steps of a window: sequences are trained window by window, a step of the optimiser each, and the states of "
         "recurrent layers are carried on; see [windows](#windows)")
          .quiet(),
      of("average", &T::average, AnyValue{},
         "of the weights, for validation and the model: `\"ema\"`, `\"swa\"` or a table; see [averaged "
         "weights](#averaged-weights)")
          .quiet(),
      of("frozen", &T::frozen, AnyValue{},
         "layers that keep their weights, by the names of the model file: `[\"0\", \"2\"]`; see [frozen "
         "layers](#frozen-layers)")
          .quiet(),
      of("shuffle", &T::shuffle, AnyValue{}, "a new order every epoch"),
      field("epochs", &RunConfig::epochs, IntRange{0, many.max}, "passes over the training set"),
      of("metrics", &T::metrics, AnyValue{}, "that evaluations report, a list of names; see [metrics](#metrics)")
          .quiet(),
      of("early_stopping", &T::early_stopping, AnyValue{},
         "`10`, or `{patience = 10, metric = \"f1\", min_gain = 0.01}`; see [early stopping](#early-stopping)")
          .quiet(),
      of("seed", &T::seed, IntRange{0}, "initial weights, shuffles, dropout")};
}

inline constexpr auto checkpoint_fields() {
  return std::tuple{field("every_steps", &CheckpointConfig::every_steps, IntRange{0, 1'000'000'000'000},
                          "save at multiples of this number of steps; 0: steps do not count"),
                    field("every_minutes", &CheckpointConfig::every_minutes, NumberRange{.max = 1'000'000},
                          "save when this time has passed since the last save; 0: time does not count"),
                    field("keep", &CheckpointConfig::keep, IntRange{0, 1'000'000'000},
                          "how many checkpoints stay, the newest ones; 0: all, for `lockstep verify`")
                        .quiet()};
}

inline constexpr auto log_fields() {
  return std::tuple{field("tensorboard", &LogConfig::tensorboard,
                          "write event files for TensorBoard: scalars, histograms of the weights, filters, the layers")
                        .quiet()};
}

inline constexpr auto guard_fields() {
  return std::tuple{
      field("recheck", &GuardOptions::recheck, NumberRange{.max = 1},
            "this share of the slots is computed a second time, on another core, and compared by `==`; the "
            "sums of weights and optimiser state are compared between steps; see "
            "[reliability.md](reliability.md)")
          .quiet()};
}

inline constexpr auto parallel_fields() {
  using P = ParallelOptions;
  constexpr IntRange parts{1, 1024};
  return std::tuple{
      field("reduce", &P::reduce, "how ranks add up their gradients; all but `tree` are for comparison"),
      field("tensor", &P::tensor, parts,
            "ranks over which the outputs of every layer are split, with their weights. ranks = data x `pipeline` x "
            "`tensor`"),
      field("pipeline", &P::pipeline, parts,
            "stages into which the layers are cut, balanced by their cost: one rank each. The number of ranks is a "
            "multiple of it; the batch is shared among the pipelines"),
      field("schedule", &P::schedule,
            "of a pipeline: `1f1b` keeps few chunks in flight, `gpipe` runs all forwards first")};
}

}  // namespace lockstep
