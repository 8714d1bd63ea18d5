#pragma once
// What the outputs of a model mean: probabilities of classes, of independent bits, or plain numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/train/model_file.hpp"

namespace lockstep::cli {

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
  Outputs(const Model& model, Backend backend) : model_(&model), backend_(backend) {}

  std::vector<Answer> answers(const Dataset& data, std::span<const std::int64_t> ids) const;
  bool probabilities() const { return model_->info.loss && *model_->info.loss != Loss::squared_error; }
  /// False for a single plain number: then `best` means nothing.
  bool classes() const { return probabilities() || model_->network.output().elements() > 1; }
  /// The name of a class: the model's, or its number.
  std::string name(std::int64_t k) const;

 private:
  const Model* model_;
  Backend backend_;
};

}  // namespace lockstep::cli
