// lockstep predict MODEL INPUT...: the likeliest classes with their probabilities, or the outputs of a model of plain
// numbers. An input is a picture, an array, a table, a folder, any other data set, or - for a table on standard input.

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/model_data.hpp"
#include "cli/commands/picture.hpp"
#include "cli/commands/predict_output.hpp"
#include "cli/output/rows.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/formats/cifar.hpp"
#include "lockstep/data/formats/image.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/model/outputs.hpp"
#include "lockstep/run/verbose.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep::cli {

namespace {

struct PredictArguments {
  std::string model{};
  std::vector<std::string> files{};  // empty: rows of the data
  DataArguments data{};
  std::string rows{};    // empty: all of a file, the first ten of the model's own data
  std::string format{};  // text, csv, jsonl; empty: text
  bool with_truth = false;
  int top = 3;  // classes shown per sample
  PictureOptions picture{};
  Backend backend = Backend::simd;
  int threads = 0;
};

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = {"text", "csv", "jsonl"};
  return names;
}

/// A file that is read whole: a picture, or an array of samples.
bool is_single(const std::string& path) {
  return is_image_name(path) || lower_case(std::filesystem::path(path).extension().string()) == ".npy";
}

/// Answers to samples, one input after another.
class Prediction {
 public:
  Prediction(const PredictArguments& arguments, const Model& model, Console& console)
      : arguments_(arguments),
        model_(model),
        console_(console),
        outputs_(model, {.backend = arguments.backend, .threads = arguments.threads}) {}

  void add_file(const std::string& path) {
    if (is_single(path)) return add_picture(path);
    if (std::filesystem::is_directory(path) && !is_cifar(path) && !has_class_folders(path)) {
      const std::vector<std::string> pictures = pictures_in(path);
      for (const std::string& picture : pictures) add_picture(picture);
      return;
    }
    DataArguments data = arguments_.data;
    data.data = path;
    add_data(data, false);
  }

  void add_data(const DataArguments& data, bool first_ten) {
    constexpr std::int64_t kShown = 10;
    const ModelData samples = load_model_data(arguments_.model, model_, data, console_,
                                              data.data.empty() ? DataUse::evaluation : DataUse::prediction);
    console_.note(fmt::format("{} part of {}: {}", samples.split, one_line(samples.source),
                              one_line(samples.samples->describe())));
    const std::int64_t size = samples.samples->size();
    const std::vector<std::int64_t> ids = !arguments_.rows.empty()
                                              ? parse_rows(arguments_.rows, size)
                                              : ids_from(0, first_ten ? std::min(kShown, size) : size);
    add(*samples.samples, ids);
  }

  void print() {
    const bool known = std::all_of(items_.begin(), items_.end(),
                                   [](const auto& item) { return item.label >= 0 || !item.target.empty(); });
    if (arguments_.with_truth && !known)
      throw Error(ErrorCode::usage, "--true: the data has no labels, or not for every sample");
    if (arguments_.format == "csv") return console_.print(predictions_csv(items_, outputs_, arguments_.with_truth));
    if (arguments_.format == "jsonl")
      return console_.print(predictions_json_lines(items_, outputs_, arguments_.with_truth));
    console_.print(console_.json() ? predictions_json(items_, outputs_)
                                   : predictions_text(items_, outputs_, arguments_.top));
  }

 private:
  void add_picture(const std::string& path) {
    const auto data = load_picture(path, model_, arguments_.picture, console_);
    std::vector<Answer> answers = outputs_.answers(*data, ids_from(0, data->size()));
    for (std::size_t i = 0; i < answers.size(); ++i)
      items_.push_back(
          {answers.size() == 1 ? path : fmt::format("{}[{}]", path, i), -1, -1, {}, std::move(answers[i])});
  }

  /// An answer for every step.
  void add_steps(const Dataset& data, const std::vector<std::int64_t>& ids) {
    const std::vector<std::vector<Answer>> answers = outputs_.step_answers(data, ids);
    const auto count = static_cast<std::int64_t>(ids.size());
    const bool known = data.step_classes() > 0;
    std::vector<double> classes(static_cast<std::size_t>(known ? data.target_size() * count : 0));
    if (known) data.targets(ids, dense_matrix(classes.data(), data.target_size(), count));
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t t = 0; t < answers[i].size(); ++t)
        items_.push_back({.name = fmt::format("row {}", ids[i]),
                          .step = static_cast<std::int64_t>(t),
                          .label = known ? static_cast<std::int32_t>(classes[t * ids.size() + i]) : -1,
                          .answer = answers[i][t]});
  }

  void add(const Dataset& data, const std::vector<std::int64_t>& ids) {
    if (outputs_.steps() > 0) return add_steps(data, ids);
    std::vector<Answer> answers = outputs_.answers(data, ids);
    std::vector<std::int32_t> labels(ids.size(), -1);
    std::vector<double> targets;
    const std::int64_t width = data.classes() == 0 && arguments_.with_truth ? data.target_size() : 0;
    const auto count = static_cast<std::int64_t>(ids.size());
    if (data.classes() > 0) data.labels(ids, labels);
    if (width > 0) {
      targets.resize(static_cast<std::size_t>(width * count));
      data.targets(ids, dense_matrix(targets.data(), width, count));
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      PredictedSample item{fmt::format("row {}", ids[i]), -1, labels[i], {}, std::move(answers[i])};
      for (std::int64_t k = 0; k < width; ++k) item.target.push_back(targets[static_cast<std::size_t>(k * count) + i]);
      items_.push_back(std::move(item));
    }
  }

  const PredictArguments& arguments_;
  const Model& model_;
  Console& console_;
  Outputs outputs_;
  std::vector<PredictedSample> items_;
};

void run_predict(const PredictArguments& arguments, Console& console) {
  if (!arguments.files.empty() && !arguments.data.data.empty())
    throw Error(ErrorCode::usage, "predict: give files, or --data, not both");
  if (console.json() && !arguments.format.empty())
    throw Error(ErrorCode::usage, "predict: --json is one array; give --json or --format, not both");
  for (const std::string& path : arguments.files)
    if (!arguments.rows.empty() && is_single(path))
      throw Error(ErrorCode::usage,
                  fmt::format("predict: --rows chooses rows of a table or data set; {} is read whole", one_line(path)));
  const Model model = open_model(arguments.model, console);
  if (const auto note = promise_note(arguments.backend)) console.note(*note);
  Prediction prediction(arguments, model, console);
  for (const std::string& path : arguments.files) prediction.add_file(path);
  if (arguments.files.empty()) prediction.add_data(arguments.data, true);
  prediction.print();
}

}  // namespace

RunCommand predict_command(Options& options) {
  const auto arguments = std::make_shared<PredictArguments>();
  options.examples(R"(Examples:
  lockstep predict model.safetensors digit.png --invert
  lockstep predict model.safetensors new.csv --format csv > answers.csv
  lockstep predict model.safetensors pictures/ --format jsonl
  lockstep predict model.safetensors test.csv --true
  cat new.csv | lockstep predict model.safetensors -
  lockstep predict runs/moons-1/model.safetensors --rows 0,5,7-9

Tables are read as the one of training: columns by name, words as categories, missing numbers filled; a label column
need not be there. Pictures are turned grey (or RGB), resized to the model's input and scaled as its training data. An .npy file holds
one sample or [samples, ...]; bytes are treated as pixels.)");
  options.argument("model", arguments->model, {"MODEL", "The model: a file, or a run directory"});
  options.arguments("inputs", arguments->files,
                    {"INPUT...",
                     "Pictures, arrays (.npy), tables (.csv), folders, data sets; -: a table on standard "
                     "input; none: rows of the data of training"},
                    false);
  add_data_options(options, arguments->data);
  options.text("--rows", arguments->rows,
               {"0,5,7-9", "Rows of the data; default: all of a file, the first ten of the model's own data"});
  options.choice("--format", arguments->format, format_names(),
                 {"FORMAT", "csv, jsonl: one line per sample, with all classes; default: text"});
  options.flag("--true", arguments->with_truth, "Show the true label or target beside the answer");
  options.integer("--top", arguments->top, 1, 1000, {"N", "Classes to show for each sample; default: 3"});
  options.flag("--invert", arguments->picture.invert, "The picture is dark on light: swap black and white");
  options.flag("--transpose", arguments->picture.transpose,
               "Swap height and width: for models of columns-first images");
  options.backend(arguments->backend);
  options.threads(arguments->threads);
  return [arguments](Console& console) { run_predict(*arguments, console); };
}

}  // namespace lockstep::cli
