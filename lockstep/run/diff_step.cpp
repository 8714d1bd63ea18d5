#include "lockstep/run/diff_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/batches.hpp"

namespace lockstep {

namespace {

bool same_number(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// The first `count` layers of a network, with its weights.
Network first_layers(const Network& whole, std::size_t count) {
  Network part(whole.input(), whole.precision());
  for (std::size_t i = 0; i < count; ++i) part.add(whole.layers()[i]);
  std::visit(
      [&](auto& values) {
        const auto& all = std::get<std::decay_t<decltype(values)>>(whole.values());
        for (const ParameterInfo& info : part.parameters())
          for (const ParameterInfo& from : whole.parameters())
            if (from.name == info.name)
              std::copy_n(all.data() + from.offset, info.elements(), values.data() + info.offset);
      },
      part.values());
  return part;
}

/// The samples of a step.
struct StepSamples {
  StepSamples(const Recomputation& of, const TrainingState& before)
      : batches({.samples = of.data().train->size(),
                 .batch = of.config().train.batch,
                 .shuffle = of.config().train.shuffle,
                 .seed = of.config().train.seed,
                 .epoch = before.epoch}),
        changed(of.data().train->for_epoch(before.epoch)),
        data(changed ? *changed : *of.data().train),
        ids(batches.ids(before.batch)) {}

  Batches batches;
  std::shared_ptr<const Dataset> changed;
  const Dataset& data;
  std::span<const std::int64_t> ids;
};

/// The first layer whose outputs differ, without what is special about training.
std::string forward_difference(const StepSamples& samples, Recomputation& first, Recomputation& second) {
  const Network& network = first.network();
  for (std::size_t count = 1; count <= network.layers().size(); ++count) {
    const Network part = first_layers(network, count);
    const auto outputs = [&](Recomputation& of) {
      return predict(part, samples.data, samples.ids, of.config().train.backend, 1);
    };
    const std::vector<double> one = outputs(first), other = outputs(second);
    const auto differs = std::mismatch(one.begin(), one.end(), other.begin(), same_number);
    if (differs.first == one.end()) continue;
    const std::int64_t at = differs.first - one.begin(), width = part.output().elements();
    return fmt::format("layer {} ({}), output {} of sample {}: {} and {}", count - 1,
                       layer_type(network.layers()[count - 1]), at % width,
                       samples.ids[static_cast<std::size_t>(at / width)], *differs.first, *differs.second);
  }
  return "";
}

/// Backward runs from the last layer to the first: the last parameter whose gradient differs is met first.
std::string gradient_difference(const StepSamples& samples, Recomputation& first, Recomputation& second) {
  const std::vector<double> one = first.trainer().gradient(samples.data, samples.ids),
                            other = second.trainer().gradient(samples.data, samples.ids);
  const auto& parameters = first.network().parameters();
  for (auto info = parameters.rbegin(); info != parameters.rend(); ++info)
    for (std::int64_t at = info->offset; at < info->offset + info->elements(); ++at) {
      const auto i = static_cast<std::size_t>(at);
      if (!same_number(one[i], other[i]))
        return fmt::format("the gradient of {}: {} and {}", element_name(parameters, at), one[i], other[i]);
    }
  return "";
}

}  // namespace

StepDifference compare_step(const TrainingState& before, Recomputation& first, Recomputation& second) {
  TrainingState state = before;
  const Dataset& data = *first.data().train;
  const std::int64_t truncate = first.config().train.truncate;
  const std::int64_t batches = Batches({.samples = data.size(),
                                        .batch = first.config().train.batch,
                                        .windows = truncate > 0 ? data.target_size() / truncate : 1})
                                   .count();
  if (state.batch >= batches) {  // between the last batch of an epoch and its end
    ++state.epoch;
    state.batch = 0;
  }
  first.trainer().restore(state);
  second.trainer().restore(state);
  if (truncate == 0) {  // a window cannot be computed without those before it
    const StepSamples samples(first, state);
    if (const std::string found = forward_difference(samples, first, second); !found.empty()) return {"forward", found};
    if (const std::string found = gradient_difference(samples, first, second); !found.empty())
      return {"backward", found};
  }
  const std::int64_t step = state.steps + 1;
  const ParameterValues one = first.follow(before, step).end.parameters,
                        other = second.follow(before, step).end.parameters;
  return {truncate > 0 ? "window" : "update", std::visit(
                                                  [&](const auto& a) -> std::string {
                                                    const auto& b = std::get<std::decay_t<decltype(a)>>(other);
                                                    for (std::int64_t i = 0; i < a.size(); ++i)
                                                      if (!same_number(double(a[i]), double(b[i])))
                                                        return fmt::format(
                                                            "the weight {}: {} and {}",
                                                            element_name(first.network().parameters(), i), a[i], b[i]);
                                                    return "";
                                                  },
                                                  one)};
}

std::vector<Distance> distances(const TrainingState& before, std::int64_t last, Recomputation& first,
                                Recomputation& second) {
  const auto is_wanted = [&](std::int64_t step) {
    const std::int64_t done = step - before.steps;
    return step == last || (done & (done - 1)) == 0;
  };
  std::map<std::int64_t, ParameterValues> kept;
  first.follow(before, last, [&](std::int64_t step) {
    if (is_wanted(step)) kept.emplace(step, first.network().values());
  });
  std::vector<Distance> all;
  second.follow(before, last, [&](std::int64_t step) {
    if (!kept.contains(step)) return;
    std::visit(
        [&](const auto& one) {
          const auto& other = std::get<std::decay_t<decltype(one)>>(second.network().values());
          Distance distance{.step = step};
          double weight = 0;
          std::int64_t differing = 0;
          for (std::int64_t i = 0; i < one.size(); ++i) {
            const double difference = std::abs(double(one[i]) - double(other[i]));
            weight = std::max(weight, std::abs(double(one[i])));
            differing += same_number(double(one[i]), double(other[i])) ? 0 : 1;
            if (difference <= distance.largest) continue;
            distance.largest = difference;
            distance.where = element_name(first.network().parameters(), i);
          }
          distance.relative = weight > 0 ? distance.largest / weight : 0;
          distance.elements = one.size() > 0 ? double(differing) / double(one.size()) : 0;
          all.push_back(std::move(distance));
        },
        kept.at(step));
  });
  return all;
}

}  // namespace lockstep
