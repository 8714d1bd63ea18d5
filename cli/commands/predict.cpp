// lockstep predict MODEL FILE... or --data SOURCE --rows 0,5,7-9: the most likely classes with their probabilities, or
// the outputs of a model of plain numbers.

#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/model_data.hpp"
#include "cli/commands/picture.hpp"
#include "cli/output/json.hpp"
#include "cli/output/rows.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/outputs.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep::cli {

namespace {

struct PredictArguments {
  std::string model{};
  std::vector<std::string> files{};  // empty: rows of the data
  DataArguments data{};
  std::string rows{};  // empty: the first ten
  int top = 3;         // classes shown per sample
  PictureOptions picture{};
  Backend backend = Backend::simd;
  int threads = 0;
};

/// A sample, what it is called, and the class it has (-1: unknown).
struct Item {
  std::string name;
  std::int32_t label = -1;
  Answer answer{};
};

std::vector<Item> from_files(const PredictArguments& arguments, const Model& model, Outputs& outputs,
                             Console& console) {
  std::vector<Item> items;
  for (const std::string& path : arguments.files) {
    const auto data = load_picture(path, model, arguments.picture, console);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(data->size()));
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    std::vector<Answer> answers = outputs.answers(*data, ids);
    for (std::size_t i = 0; i < answers.size(); ++i)
      items.push_back({answers.size() == 1 ? path : fmt::format("{}[{}]", path, i), -1, std::move(answers[i])});
  }
  return items;
}

std::vector<Item> from_rows(const PredictArguments& arguments, const Model& model, Outputs& outputs, Console& console) {
  constexpr std::int64_t kShown = 10;
  const ModelData data = load_model_data(arguments.model, model.info, arguments.data, console);
  console.note(fmt::format("{} part of {}: {}", data.split, one_line(data.source), one_line(data.samples->describe())));
  const std::int64_t size = data.samples->size();
  const std::string rows = arguments.rows.empty() ? fmt::format("0-{}", std::min(kShown, size) - 1) : arguments.rows;
  const std::vector<std::int64_t> ids = parse_rows(rows, size);
  std::vector<Answer> answers = outputs.answers(*data.samples, ids);
  std::vector<std::int32_t> labels(ids.size(), -1);
  if (data.samples->classes() > 0) data.samples->labels(ids, labels);
  std::vector<Item> items;
  for (std::size_t i = 0; i < ids.size(); ++i)
    items.push_back({fmt::format("row {}", ids[i]), labels[i], std::move(answers[i])});
  return items;
}

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

std::string text(const std::vector<Item>& items, const Outputs& outputs, std::int64_t top) {
  const bool labelled = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.label >= 0; });
  TextTable table(std::string(static_cast<std::size_t>(top) + (labelled ? 2 : 1), 'l'));
  if (outputs.classes())
    table.row(labelled ? std::vector<std::string>{"", "true", "answer"} : std::vector<std::string>{"", "answer"});
  for (const Item& item : items) {
    std::vector<std::string> cells = {one_line(item.name)};
    if (labelled) cells.push_back(item.label >= 0 ? one_line(outputs.name(item.label)) : "");
    std::vector<std::int64_t> classes = ranking(item.answer);
    classes.resize(std::min(classes.size(), static_cast<std::size_t>(top)));
    for (const std::int64_t k : classes) {
      const double value = item.answer.values[static_cast<std::size_t>(k)];
      const std::string shown = outputs.probabilities() ? percent(value) : fmt::format("{:.6g}", value);
      cells.push_back(outputs.classes() ? fmt::format("{} {}", one_line(outputs.name(k)), shown) : shown);
    }
    table.row(std::move(cells));
  }
  return table.str();
}

std::string json(const std::vector<Item>& items, const Outputs& outputs) {
  Json list = Json::array();
  for (const Item& item : items) {
    Json entry = {{"input", item.name}};
    if (item.label >= 0) entry["label"] = item.label;
    if (outputs.classes()) {
      entry["class"] = item.answer.best;
      entry["name"] = outputs.name(item.answer.best);
    }
    entry[outputs.probabilities() ? "probabilities" : "outputs"] = item.answer.values;
    list.push_back(std::move(entry));
  }
  return fmt::format("{}\n", list.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void run_predict(const PredictArguments& arguments, Console& console) {
  if (!arguments.files.empty() && (!arguments.rows.empty() || !arguments.data.data.empty()))
    throw Error(ExitCode::usage, "predict: give files, or rows of a data set, not both");
  const Model model = open_model(arguments.model, console);
  if (const auto note = promise_note(arguments.backend)) console.note(*note);
  Outputs outputs(model, {.backend = arguments.backend, .threads = arguments.threads});
  const std::vector<Item> items = arguments.files.empty() ? from_rows(arguments, model, outputs, console)
                                                          : from_files(arguments, model, outputs, console);
  console.print(console.json() ? json(items, outputs) : text(items, outputs, arguments.top));
}

}  // namespace

RunCommand predict_command(Options& options) {
  const auto arguments = std::make_shared<PredictArguments>();
  options.examples(R"(Examples:
  lockstep predict model.safetensors digit.png --invert
  lockstep predict model.safetensors batch.npy --top 1
  lockstep predict runs/moons-1/model.safetensors --rows 0,5,7-9

Pictures are turned grey (or RGB), resized to the model's input and scaled as its training data. An .npy file holds
one sample or [samples, ...]; bytes are treated as pixels.)");
  options.argument("model", arguments->model, {"MODEL.safetensors", "The model"});
  options.arguments("files", arguments->files, {"FILE...", "Pictures (.png) or arrays (.npy); none: rows of the data"},
                    false);
  add_data_options(options, arguments->data);
  options.text("--rows", arguments->rows, {"0,5,7-9", "Rows of the data; default: the first ten"});
  options.integer("--top", arguments->top, 1, 1000, {"N", "Classes to show for each sample; default: 3"});
  options.flag("--invert", arguments->picture.invert, "The picture is dark on light: swap black and white");
  options.flag("--transpose", arguments->picture.transpose,
               "Swap height and width: for models of columns-first images");
  options.backend(arguments->backend);
  options.threads(arguments->threads);
  return [arguments](Console& console) { run_predict(*arguments, console); };
}

}  // namespace lockstep::cli
