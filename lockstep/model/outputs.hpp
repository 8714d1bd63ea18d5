#pragma once
// What the outputs of a model mean: probabilities of classes, of independent bits, or plain numbers.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/predictor.hpp"

namespace lockstep {

/// The answer of a model to one sample.
struct Answer {
  /// Per class: the softmax of the logits (cross-entropy), the sigmoid of each (binary cross-entropy; with one output
  /// the pair 1 - p, p); else the outputs as they are.
  std::vector<double> values;
  std::int64_t best = 0;  // the class that training counts as the answer; ties to the smallest
};

class Outputs {
 public:
  /// The model must outlive it.
  Outputs(const Model& model, const PredictOptions& options);
  Outputs(const Outputs&) = delete;  // the predictor holds on to the network beside it
  Outputs& operator=(const Outputs&) = delete;

  std::vector<Answer> answers(const Dataset& data, std::span<const std::int64_t> ids);
  /// The steps of a model that gives a class for every step of a sequence; else 0.
  std::int64_t steps() const;
  /// Its answers to the steps of each sample, as far as the sample's length goes.
  std::vector<std::vector<Answer>> step_answers(const Dataset& data, std::span<const std::int64_t> ids);
  bool probabilities() const { return model_->info.loss && !is_of_values(*model_->info.loss); }
  /// False for a single plain number: then `best` means nothing.
  bool classes() const { return probabilities() || model_->network.output().elements() > 1; }
  /// The name of a class: the model's, the character of a text's vocabulary, or its number.
  std::string name(std::int64_t k) const;

 private:
  const Model* model_;
  Network logits_;
  Predictor predictor_;
  std::vector<std::string> names_;
};

}  // namespace lockstep
