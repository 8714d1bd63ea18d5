#include "cli/commands/predict.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/output/json.hpp"
#include "cli/output/outputs.hpp"
#include "cli/output/rows.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep::cli {

namespace {

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

}  // namespace

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

}  // namespace lockstep::cli
