// lockstep eval MODEL: loss, accuracy, metrics and, for up to 30 classes, the confusion matrix and the scores of
// each class.

#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/model_data.hpp"
#include "cli/output/json.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/outputs.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/result.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep::cli {

namespace {

struct EvalArguments {
  std::string model{};
  DataArguments data{};
  Backend backend = Backend::simd;
  int threads = 0;       // 0: the trainer's choice
  bool verbose = false;  // note kernels and processors
};

constexpr std::int64_t kMostClasses = 30;  // more do not fit a screen
constexpr std::int64_t kBlock = 4096;      // samples whose answers are held at one time

/// The confusion matrix of a classifier: rows are the true classes, columns the answers.
class Confusion {
 public:
  explicit Confusion(std::int64_t classes)
      : classes_(classes), counts_(static_cast<std::size_t>(classes * classes), 0) {}

  void add(std::int64_t truth, std::int64_t answer) { ++counts_[static_cast<std::size_t>(truth * classes_ + answer)]; }
  std::int64_t count(std::int64_t truth, std::int64_t answer) const {
    return counts_[static_cast<std::size_t>(truth * classes_ + answer)];
  }

  /// A table with the share found of each class (recall) in its last column.
  std::string text(const std::vector<std::string>& names) const {
    TextTable table(fmt::format("l{}r", std::string(static_cast<std::size_t>(classes_), 'r')));
    std::vector<std::string> head = {"true \\ answer"};
    for (std::int64_t k = 0; k < classes_; ++k) head.push_back(std::to_string(k));
    head.emplace_back("found");
    table.row(head);
    for (std::int64_t truth = 0; truth < classes_; ++truth) {
      const auto index = static_cast<std::size_t>(truth);
      std::vector<std::string> cells = {std::to_string(truth)};
      if (index < names.size()) cells[0] = fmt::format("{} {}", truth, one_line(names[index]));
      std::int64_t sum = 0;
      for (std::int64_t answer = 0; answer < classes_; ++answer) {
        cells.push_back(count(truth, answer) == 0 ? "." : std::to_string(count(truth, answer)));
        sum += count(truth, answer);
      }
      cells.push_back(sum == 0 ? "-" : percent(double(count(truth, truth)) / double(sum)));
      table.row(std::move(cells));
    }
    return table.str();
  }
  /// [[true 0 answered 0, true 0 answered 1, ...], ...]
  Json json() const {
    Json rows = Json::array();
    for (std::int64_t truth = 0; truth < classes_; ++truth) {
      Json row = Json::array();
      for (std::int64_t answer = 0; answer < classes_; ++answer) row.push_back(count(truth, answer));
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;
};

Confusion confusion_of(Outputs& outputs, const Dataset& data, std::int64_t classes) {
  Confusion confusion(classes);
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> labels;
  for (std::int64_t first = 0; first < data.size(); first += kBlock) {
    ids.resize(static_cast<std::size_t>(std::min(kBlock, data.size() - first)));
    std::iota(ids.begin(), ids.end(), first);
    labels.resize(ids.size());
    data.labels(ids, labels);
    const std::vector<Answer> answers = outputs.answers(data, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) confusion.add(labels[i], answers[i].best);
  }
  return confusion;
}

/// Precision, recall and F1 of every class.
std::string class_table(const Scores& scores, const std::vector<std::string>& names) {
  std::vector<std::string> head = {"class"};
  std::vector<const MetricValue*> columns;
  for (const MetricValue& metric : scores.metrics)
    if (!metric.per_class.empty()) {
      head.push_back(metric.name);
      columns.push_back(&metric);
    }
  TextTable table(fmt::format("l{}", std::string(columns.size(), 'r')));
  table.row(head);
  for (std::size_t c = 0; !columns.empty() && c < columns[0]->per_class.size(); ++c) {
    std::vector<std::string> cells = {c < names.size() ? fmt::format("{} {}", c, one_line(names[c]))
                                                       : std::to_string(c)};
    for (const MetricValue* metric : columns) cells.push_back(metric_text(metric->per_class[c]));
    table.row(std::move(cells));
  }
  return table.str();
}

void run_eval(const EvalArguments& arguments, Console& console) {
  Model model = open_model(arguments.model, console);
  if (!model.info.loss)
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: the file does not name the loss it was trained with", arguments.model));
  const ModelData data = load_model_data(arguments.model, model, arguments.data, console, DataUse::evaluation);
  console.note(fmt::format("{} part of {}: {}", data.split, one_line(data.source), one_line(data.samples->describe())));
  const Trainer trainer(model.network,
                        {.loss = *model.info.loss,
                         .focal_gamma = model.info.focal_gamma,
                         .huber_delta = model.info.huber_delta,
                         .backend = arguments.backend,
                         .metrics = fitting_metrics(*data.samples, model.network.output().elements(), *model.info.loss),
                         .threads = arguments.threads});
  if (const auto note = promise_note(arguments.backend)) console.note(*note);
  if (arguments.verbose)
    for (const std::string& line :
         verbose_lines(arguments.backend, model.network.precision(), trainer.options().threads))
      console.note(line);
  const Scores scores = trainer.evaluate(*data.samples);
  const std::string loss = name_of(*model.info.loss);
  // With one output there are two classes; a model may have more outputs than the data has classes.
  const std::int64_t classes = std::max<std::int64_t>(model.network.output().elements(), 2);
  const bool with_matrix = data.samples->classes() > 0 && classes <= kMostClasses;
  Outputs outputs(model, {.backend = arguments.backend, .threads = arguments.threads});
  if (console.json()) {
    Json json = Json::parse(scores_json(scores));
    json["split"] = data.split;
    if (scores.steps > 0) json["tokens"] = scores.steps;
    json["loss_function"] = loss;
    json["weight_hash"] = weight_hash(model.network.values());
    if (with_matrix) json["confusion"] = confusion_of(outputs, *data.samples, classes).json();
    console.print(fmt::format("{}\n", json.dump()));
    return;
  }
  TextTable table("ll");
  table.row({"samples", with_commas(scores.samples)});
  table.row({"loss", fmt::format("{}  ({})", loss_text(scores.loss), loss)});
  if (scores.steps > 0) table.row({"tokens", with_commas(scores.steps)});
  if (scores.correct)
    table.row({"accuracy", fmt::format("{}  ({} correct)", percent(scores.accuracy()), with_commas(*scores.correct))});
  for (const MetricValue& metric : scores.metrics)
    table.row({metric.name, metric_text(metric.value) + (metric.per_class.empty() ? "" : "  (mean over classes)")});
  table.row({"weights", short_hash(weight_hash(model.network.values()))});
  console.print(table.str());
  if (with_matrix)
    console.print(fmt::format("\n{}\n{}", confusion_of(outputs, *data.samples, classes).text(model.info.class_names),
                              class_table(scores, model.info.class_names)));
}

}  // namespace

RunCommand eval_command(Options& options) {
  const auto arguments = std::make_shared<EvalArguments>();
  options.examples(R"(Examples:
  lockstep eval runs/moons-1/model.safetensors
  lockstep eval model.safetensors --data mnist --split test
  lockstep eval model.safetensors --data more.csv --set data.label_column=class)");
  options.argument("model", arguments->model, {"MODEL", "The model: a file, or a run directory"});
  add_data_options(options, arguments->data);
  options.backend(arguments->backend);
  options.threads(arguments->threads);
  options.verbose(arguments->verbose);
  return [arguments](Console& console) { run_eval(*arguments, console); };
}

}  // namespace lockstep::cli
