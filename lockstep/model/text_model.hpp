#pragma once
// Text from a model that tells the next token: token after token, each drawn from the probabilities behind the last
// ones. The same model, prompt and seed give the same text on every machine, backend and number of threads.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/text_source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/predictor.hpp"

namespace lockstep {

class TextModel {
 public:
  /// `model` must outlive this. Error(usage) unless it was trained on text and its steps see none that follow them.
  TextModel(const Model& model, const PredictOptions& options);

  /// Begins a text. Error(data) when the prompt is empty or holds what the vocabulary has not.
  void begin(std::string_view prompt, std::uint64_t seed);
  /// The next token, which joins the text: its bytes. With logits z of the token behind the last `steps` ones,
  /// p_k = exp((z_k - max z) / temperature), in double; the token is the first k at which the chain of p_0, p_1, ...
  /// exceeds u * (the chain of all), u uniform in [0, 1) from the counter (seed, number of the token). Temperature 0:
  /// the largest z, the first of equal ones.
  std::string next(double temperature);

 private:
  std::vector<double> logits();

  const Model& model_;
  Predictor predictor_;
  Vocabulary vocabulary_;
  std::vector<std::int32_t> tokens_;  // at most the last `steps`
  std::uint64_t seed_ = 1, drawn_ = 0;
};

}  // namespace lockstep
