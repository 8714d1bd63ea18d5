#include "cli/commands/predict_output.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/json.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/lines.hpp"

namespace lockstep::cli {

namespace {

/// Classes by falling value, the answer first; equal ones by their number.
std::vector<std::int64_t> ranking(const Answer& answer) {
  std::vector<std::int64_t> order(answer.values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    if ((a == answer.best) != (b == answer.best)) return a == answer.best;
    return answer.values[static_cast<std::size_t>(a)] > answer.values[static_cast<std::size_t>(b)];
  });
  return order;
}

double best_value(const Answer& answer) { return answer.values[static_cast<std::size_t>(answer.best)]; }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A field of CSV: quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string truth_of(const PredictedSample& sample, const Outputs& outputs) {
  if (sample.label >= 0) return outputs.name(sample.label);
  return fmt::format("{}", fmt::join(sample.target, " "));
}

/// "row 3", or "row 3 step 5".
std::string name_of(const PredictedSample& sample) {
  return sample.step < 0 ? sample.name : fmt::format("{} step {}", sample.name, sample.step);
}

Json named(const PredictedSample& sample) {
  Json entry = {{"input", sample.name}};
  if (sample.step >= 0) entry["step"] = sample.step;
  return entry;
}

}  // namespace

std::string predictions_text(const std::vector<PredictedSample>& samples, const Outputs& outputs, std::int64_t top) {
  const bool labelled = std::any_of(samples.begin(), samples.end(),
                                    [](const auto& sample) { return sample.label >= 0 || !sample.target.empty(); });
  TextTable table(std::string(static_cast<std::size_t>(top) + (labelled ? 2 : 1), 'l'));
  if (outputs.classes() || labelled)
    table.row(labelled ? std::vector<std::string>{"", "true", "answer"} : std::vector<std::string>{"", "answer"});
  for (const PredictedSample& sample : samples) {
    std::vector<std::string> cells = {one_line(name_of(sample))};
    if (labelled) cells.push_back(one_line(truth_of(sample, outputs)));
    std::vector<std::int64_t> classes = ranking(sample.answer);
    classes.resize(std::min(classes.size(), static_cast<std::size_t>(top)));
    for (const std::int64_t k : classes) {
      const double value = sample.answer.values[static_cast<std::size_t>(k)];
      const std::string shown = outputs.probabilities() ? percent(value) : fmt::format("{:.6g}", value);
      cells.push_back(outputs.classes() ? fmt::format("{} {}", one_line(outputs.name(k)), shown) : shown);
    }
    table.row(std::move(cells));
  }
  return table.str();
}

std::string predictions_json(const std::vector<PredictedSample>& samples, const Outputs& outputs) {
  Json list = Json::array();
  for (const PredictedSample& sample : samples) {
    Json entry = named(sample);
    if (sample.label >= 0) entry["label"] = sample.label;
    if (!sample.target.empty()) entry["target"] = sample.target;
    if (outputs.classes()) {
      entry["class"] = sample.answer.best;
      entry["name"] = outputs.name(sample.answer.best);
    }
    entry[outputs.probabilities() ? "probabilities" : "outputs"] = sample.answer.values;
    list.push_back(std::move(entry));
  }
  return fmt::format("{}\n", dump(list));
}

std::string predictions_csv(const std::vector<PredictedSample>& samples, const Outputs& outputs, bool with_truth) {
  if (samples.empty()) return {};
  const auto width = static_cast<std::int64_t>(samples.front().answer.values.size());
  std::vector<std::string> line = {"input"};
  if (with_truth) line.emplace_back("true");
  if (outputs.classes() || width == 1) line.emplace_back("answer");
  if (outputs.classes() && outputs.probabilities()) line.emplace_back("probability");
  for (std::int64_t k = 0; k < width && (outputs.classes() || width > 1); ++k)
    line.push_back(outputs.classes() ? csv_field(outputs.name(k)) : fmt::format("answer {}", k));
  std::string text = fmt::format("{}\n", fmt::join(line, ","));
  for (const PredictedSample& sample : samples) {
    line = {csv_field(name_of(sample))};
    if (with_truth) line.push_back(csv_field(truth_of(sample, outputs)));
    if (outputs.classes()) {
      line.push_back(csv_field(outputs.name(sample.answer.best)));
      if (outputs.probabilities()) line.push_back(fmt::format("{}", best_value(sample.answer)));
    }
    for (const double value : sample.answer.values) line.push_back(fmt::format("{}", value));
    text += fmt::format("{}\n", fmt::join(line, ","));
  }
  return text;
}

std::string predictions_json_lines(const std::vector<PredictedSample>& samples, const Outputs& outputs,
                                   bool with_truth) {
  std::string text;
  for (const PredictedSample& sample : samples) {
    Json entry = named(sample);
    if (with_truth && sample.label >= 0) entry["true"] = outputs.name(sample.label);
    if (with_truth && sample.label < 0) entry["true"] = sample.target;
    if (outputs.classes()) entry["answer"] = outputs.name(sample.answer.best);
    if (outputs.probabilities()) {
      entry["probability"] = best_value(sample.answer);
      Json all = Json::object();
      for (std::size_t k = 0; k < sample.answer.values.size(); ++k)
        all[outputs.name(static_cast<std::int64_t>(k))] = sample.answer.values[k];
      entry["probabilities"] = std::move(all);
    } else {
      entry["outputs"] = sample.answer.values;
    }
    text += fmt::format("{}\n", dump(entry));
  }
  return text;
}

}  // namespace lockstep::cli
