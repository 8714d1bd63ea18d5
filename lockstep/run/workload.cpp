#include "lockstep/run/workload.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/preparation.hpp"
#include "lockstep/model/seal.hpp"
#include "lockstep/run/rank_session.hpp"
#include "lockstep/run/timer.hpp"

namespace lockstep {

namespace {

RunConfig config_of_rank(const std::string& file, const RunOptions& options, Ranks& ranks) {
  RunConfig config = load_config(file, options.set);
  config.train.backend = options.backend;
  config.train.threads = options.threads;
  if (options.threads == 0 && ranks.size() > 1) config.train.threads = threads_of_rank(ranks.transport());
  return config;
}

Trainer make_trainer(Network& network, const RunConfig& config, Ranks& ranks) {
  try {
    return {network, config.train, ranks};
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", misfit_origin(config), error.what()));
  }
}

/// The trainer's checks of every part of the data, before a run directory is made.
void check_fit(const Trainer& trainer, const DataSplits& data, const RunConfig& config) {
  try {
    for (const auto& part : {data.train, data.validation, data.test})
      if (part) trainer.check(*part);
  } catch (const Error& error) {
    const auto place = config.data.places.find("source");
    throw Error(error.code(),
                fmt::format("{}: data.source: {}", place != config.data.places.end() ? place->second : config.name,
                            error.what()));
  }
}

/// Weights of classes and samples that make no sense, before a run directory is made.
void check_weights(const DataSplits& data, const RunConfig& config) {
  try {
    const SampleWeights weights(*data.train, config.train.class_weights);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    throw Error(error.code(),
                fmt::format("{}: {}{}", config.name, message.starts_with("class_weights") ? "train." : "", message));
  }
}

/// The rows of the last Theta in a .mat file follow the labels (theta.hpp), but are read before them: Error(usage) when
/// the labels turn out to follow another rule.
void check_rows(const RunConfig& config, const DataSplits& data, const Network& network) {
  const bool guessed = config.model.init_file.ends_with(".mat") && config.data.label_rule.empty();
  if (!guessed || data.label_rule.empty() || parse_label_rule(data.label_rule) == LabelRule::as_stored) return;
  const LabelRule rule = one_based_rule(network.output().elements());
  const std::string& rows = label_rule_names()[static_cast<std::size_t>(rule)];
  if (rows != data.label_rule)
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: model.init: the {} rows of the last Theta in {} are taken as \"{}\", but the labels of {} "
                    "as \"{}\"; say in data.label_rule what holds for both",
                    config.name, network.output().elements(), config.model.init_file, rows, config.data.source,
                    data.label_rule));
}

/// Error(usage) for samples that are no sequences, where the network reads sequences: an image and a plain list can be
/// read in two ways, and nothing but the configuration says in which.
void check_sequences(const RunConfig& config, const DataSplits& data, const Network& network) {
  const Shape samples = data.train->sample_shape();
  if (!reads_sequences(network) || samples.rank() == 2) return;
  const auto place = config.data.places.find("source");
  throw Error(ErrorCode::usage,
              fmt::format("{}: data.source: samples {} are no sequences [features,steps], which the model reads; set "
                          "data.as_sequence = \"rows\" or \"columns\", or data.shape = [features, steps]",
                          place != config.data.places.end() ? place->second : config.name, samples.str()));
}

}  // namespace

Workload::Workload(const std::string& file, const RunOptions& options, Ranks& ranks)
    : config(config_of_rank(file, options, ranks)),
      network(make_network(config)),
      trainer(make_trainer(network, config, ranks)) {}

void Workload::load(RunObserver& observer) {
  if (const std::string& file = config.model.init_file; file.ends_with(".safetensors"))
    if (const auto note = seal_note(file, read_sealed(file).seal)) observer.note(*note);
  const Timer timer;
  data = load_data(config.data);
  for (const std::string& note : data.notes) observer.note(one_line(note));
  check_sequences(config, data, network);
  check_fit(trainer, data, config);
  check_weights(data, config);
  if (config.train.needs_validation() && !data.validation)
    throw Error(ErrorCode::usage,
                fmt::format("{}: train.{} needs validation data; data.split = {{validation = 0.2}} takes some",
                            config.name, config.train.early_stopping ? "early_stopping" : "schedule"));
  check_rows(config, data, network);
  info.loss = config.train.loss;
  info.focal_gamma = config.train.focal_gamma;
  info.huber_delta = config.train.huber_delta;
  describe_data(config.data, data, info);
  observer.note(fmt::format("train on {} ({})", one_line(data.train->describe()), duration(timer.seconds())));
}

const Dataset* Workload::final_data() const {
  return data.test ? data.test.get() : data.validation ? nullptr : data.train.get();
}

std::string Workload::backend_name() const { return backend_names()[static_cast<std::size_t>(config.train.backend)]; }

}  // namespace lockstep
