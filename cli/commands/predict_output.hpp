#pragma once
// What predict prints: a table for people, one JSON array, or one line per sample (CSV, JSON lines) for programs.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/model/outputs.hpp"

namespace lockstep::cli {

/// A sample or a step of it, what it is called, its true class (-1: unknown) or real target (empty: unknown), and the
/// model's answer.
struct PredictedSample {
  std::string name;
  std::int64_t step = -1;  // of a model with an answer for every step; else -1
  std::int32_t label = -1;
  std::vector<double> target{};
  Answer answer{};
};

/// The `top` likeliest classes of each sample; the truth beside them where it is known.
std::string predictions_text(const std::vector<PredictedSample>& samples, const Outputs& outputs, std::int64_t top);

/// [{"input": "row 0", "label": 1, "class": 0, "name": "setosa", "probabilities": [0.9, 0.1]}, ...]; of a
/// model with an answer for every step, one for each: {"input": "row 0", "step": 0, ...}
std::string predictions_json(const std::vector<PredictedSample>& samples, const Outputs& outputs);

/// RFC 4180, with a header: input, true (where wanted), answer, probability, and one column per class; or one column
/// per output of a model of plain numbers.
std::string predictions_csv(const std::vector<PredictedSample>& samples, const Outputs& outputs, bool with_truth);

/// One object per line: {"input": "row 0", "true": "setosa", "answer": "setosa", "probability": 0.9, "probabilities":
/// {"setosa": 0.9, "virginica": 0.1}}; or "outputs": [1.5].
std::string predictions_json_lines(const std::vector<PredictedSample>& samples, const Outputs& outputs,
                                   bool with_truth);

}  // namespace lockstep::cli
