#pragma once
// What a trained network answers, as its report shows it: counts by class, the worst mistakes, predictions beside the
// truth, the regions of classes in a plane, the filters of the first layer. Found when a run ends, from the scores that
// its last evaluation took anyway, and kept in answers.json: bounded in size, whatever the data.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/config/config.hpp"
#include "lockstep/distribute/sample_scores.hpp"
#include "lockstep/lab/report/chart.hpp"
#include "lockstep/model/model_file.hpp"

namespace lockstep {

struct RunAnswers {
  struct Class {
    std::string name{};
    std::int64_t samples = 0, answers = 0, right = 0;
  };
  struct Mistake {
    std::int64_t sample = 0;
    std::int64_t truth = 0, answer = 0;         // classes
    double probability = 0, of_truth = 0;       // of the answer and of the true class, where outputs have them
    double true_value = 0, answered_value = 0;  // of a regression
    std::string picture{};                      // PNG in base64; empty: none
    std::vector<std::string> values{};          // of the columns, where there is no picture
  };
  struct Filters {
    std::string layer{};  // "0 conv2d"
    std::int64_t all = 0;
    std::vector<std::string> before{}, after{};  // PNG in base64
  };
  struct Boundary {
    std::string x_name{}, y_name{};
    report::Regions regions{};
    std::vector<report::CloudPoint> points{};
  };

  std::string part{};  // "test", "validation" or "training"
  std::int64_t samples = 0;
  bool probabilities = false;
  std::vector<Class> classes{};                        // empty: the targets are numbers
  std::vector<std::vector<std::int64_t>> confusion{};  // [truth][answer]; empty where there are many classes
  std::vector<std::string> columns{};                  // names of Mistake::values
  std::vector<Mistake> worst{};                        // the worst first
  std::int64_t outputs = 1;
  std::vector<std::pair<double, double>> pairs{};  // true, answered; of output 0
  std::optional<Boundary> boundary{};
  std::optional<Filters> filters{};
};

/// `scores` are those of `data`, by the weights of `network`.
RunAnswers find_answers(const RunConfig& config, const Network& network, const ModelInfo& info, const Dataset& data,
                        const SampleScores& scores);

std::string answers_json(const RunAnswers& answers);
/// Nothing without the file. Error(data) that names it where it is damaged.
std::optional<RunAnswers> read_answers(const std::filesystem::path& path);

}  // namespace lockstep
