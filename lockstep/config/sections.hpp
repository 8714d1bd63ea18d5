#pragma once
// The sections of a configuration: internal to this folder.

#include <string>
#include <vector>

#include "lockstep/config/config.hpp"
#include "lockstep/config/value.hpp"

namespace lockstep {

/// --set section.key=value: applies the assignments in order; the last one to a key wins. Missing tables are made; a
/// string on the way becomes {name = string}, so train.optimizer.lr=0.1 works on optimizer = "adam". Error(usage) for
/// text that is no assignment or leads through something that is no table.
void apply_overrides(Value& root, const std::vector<std::string>& overrides);

/// "data.source", ..., "checkpoint.every_minutes"
const std::vector<std::string>& all_keys();

DataConfig read_data(const Value& section, const std::string& config = {});
const std::vector<std::string>& model_keys();
/// `input_from_data`: model.input may be missing and is then left empty.
ModelConfig read_model(const Value& section, bool input_from_data = false);
/// Fills `config.train` and `config.epochs`.
void read_train(const Value& section, RunConfig& config);
/// One layer: "relu", {linear = 10}, {conv2d = {out = 6, kernel = 5}}, {residual = {body = [...]}}.
LayerSpec read_layer(const Value& value, const std::string& path);

}  // namespace lockstep
