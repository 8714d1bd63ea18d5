#pragma once
// The sections of a configuration: internal to this folder.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/config/config.hpp"
#include "lockstep/config/value.hpp"

namespace lockstep {

/// The keys of each section.
const std::vector<std::string>& data_keys();
const std::vector<std::string>& model_keys();
const std::vector<std::string>& train_keys();
const std::vector<std::string>& checkpoint_keys();
const std::vector<std::string>& parallel_keys();
/// "data.source", ..., "checkpoint.every_minutes"
const std::vector<std::string>& all_keys();

DataConfig read_data(const Value& section);
ModelConfig read_model(const Value& section);
/// Fills `config.train` and `config.epochs`.
void read_train(const Value& section, RunConfig& config);
void read_checkpoint(const Value& section, CheckpointConfig& checkpoint);
void read_parallel(const Value& section, ParallelOptions& parallel);

/// A list of layers: "relu", {linear = 10}, {conv2d = {out = 6, kernel = 5}}, {residual = {body = [...]}}.
std::vector<LayerSpec> read_layers(const Value& list, const std::string& path);
LayerSpec read_layer(const Value& value, const std::string& path);

}  // namespace lockstep
