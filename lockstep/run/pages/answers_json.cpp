#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/run/pages/answers.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostBytes = 16 << 20;
constexpr std::size_t kMostEntries = 1 << 16;  // of any list

Json to_json(const RunAnswers::Mistake& mistake, bool classes) {
  Json json = {{"sample", mistake.sample}};
  if (classes)
    json.update({{"truth", mistake.truth},
                 {"answer", mistake.answer},
                 {"probability", mistake.probability},
                 {"of_truth", mistake.of_truth}});
  else
    json.update({{"true_value", mistake.true_value}, {"answered_value", mistake.answered_value}});
  if (!mistake.picture.empty()) json["picture"] = mistake.picture;
  if (!mistake.values.empty()) json["values"] = mistake.values;
  return json;
}

Json to_json(const RunAnswers::Boundary& boundary) {
  const report::Regions& regions = boundary.regions;
  Json points = Json::array();
  for (const report::CloudPoint& point : boundary.points)
    points.push_back({point.x, point.y, point.group, point.crossed ? 1 : 0});
  return {{"x", {{"name", boundary.x_name}, {"low", regions.x_low}, {"high", regions.x_high}}},
          {"y", {{"name", boundary.y_name}, {"low", regions.y_low}, {"high", regions.y_high}}},
          {"columns", regions.columns},
          {"rows", regions.rows},
          {"classes", regions.groups},
          {"levels", regions.levels},
          {"points", std::move(points)}};
}

/// Counts of samples: whole numbers from 0 on.
std::int64_t count_of_samples(const Json& json) {
  const auto value = json.get<std::int64_t>();
  if (value < 0) throw Error(ErrorCode::data, "a count is negative");
  return value;
}

/// Error(data) where what the lists say does not fit together.
void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::data, what);
}

RunAnswers::Boundary boundary_of(const Json& json, std::size_t classes) {
  RunAnswers::Boundary out{.x_name = json.at("x").at("name"), .y_name = json.at("y").at("name")};
  report::Regions& regions = out.regions;
  regions = {.columns = json.at("columns"),
             .rows = json.at("rows"),
             .x_low = json.at("x").at("low"),
             .x_high = json.at("x").at("high"),
             .y_low = json.at("y").at("low"),
             .y_high = json.at("y").at("high"),
             .groups = json.at("classes"),
             .levels = json.at("levels")};
  require(regions.columns > 0 && regions.rows > 0 && regions.columns <= kMostEntries && regions.rows <= kMostEntries &&
              regions.groups.size() == regions.columns * regions.rows && regions.levels.size() == regions.groups.size(),
          "the regions have another size than they say");
  for (const std::size_t group : regions.groups) require(group <= classes, "a region has an unknown class");
  for (const int level : regions.levels)
    require(level >= 0 && level <= report::Regions::kMostLevel, "a level is wrong");
  for (const Json& point : json.at("points")) {
    out.points.push_back({point.at(0), point.at(1), point.at(2), point.at(3).get<int>() != 0});
    require(out.points.back().group < classes, "a point has an unknown class");
  }
  return out;
}

RunAnswers::Mistake mistake_of(const Json& json, const RunAnswers& answers) {
  RunAnswers::Mistake out{.sample = json.at("sample"),
                          .truth = json.value("truth", std::int64_t{0}),
                          .answer = json.value("answer", std::int64_t{0}),
                          .probability = json.value("probability", 0.0),
                          .of_truth = json.value("of_truth", 0.0),
                          .true_value = json.value("true_value", 0.0),
                          .answered_value = json.value("answered_value", 0.0),
                          .picture = json.value("picture", std::string()),
                          .values = json.value("values", std::vector<std::string>())};
  require(out.truth >= 0 && out.truth < std::max<std::int64_t>(std::ssize(answers.classes), 1), "an unknown class");
  require(out.answer >= 0, "an answer is negative");
  require(out.values.size() <= answers.columns.size(), "a mistake has more values than there are columns");
  return out;
}

RunAnswers parse_answers(const Json& json) {
  RunAnswers out{.part = json.at("part"), .samples = count_of_samples(json.at("samples"))};
  out.probabilities = json.value("probabilities", false);
  out.outputs = json.value("outputs", std::int64_t{1});
  for (const Json& each : json.value("classes", Json::array()))
    out.classes.push_back({.name = each.at("name"),
                           .samples = count_of_samples(each.at("samples")),
                           .answers = count_of_samples(each.at("answers")),
                           .right = count_of_samples(each.at("right"))});
  for (const Json& row : json.value("confusion", Json::array())) {
    auto& counts = out.confusion.emplace_back();
    for (const Json& count : row) counts.push_back(count_of_samples(count));
    require(counts.size() == out.classes.size(), "a row of the confusion matrix has another length");
  }
  require(out.confusion.empty() || out.confusion.size() == out.classes.size(), "the confusion matrix has another size");
  out.columns = json.value("columns", std::vector<std::string>());
  for (const Json& each : json.value("worst", Json::array())) out.worst.push_back(mistake_of(each, out));
  for (const Json& pair : json.value("pairs", Json::array())) out.pairs.emplace_back(pair.at(0), pair.at(1));
  if (json.contains("boundary")) out.boundary = boundary_of(json.at("boundary"), out.classes.size());
  if (json.contains("filters")) {
    const Json& filters = json.at("filters");
    out.filters = {.layer = filters.at("layer"),
                   .all = filters.at("all"),
                   .before = filters.at("before"),
                   .after = filters.at("after")};
    require(out.filters->before.size() == out.filters->after.size(), "the filters before and after differ in number");
  }
  return out;
}

}  // namespace

std::string answers_json(const RunAnswers& answers) {
  Json json = {{"part", answers.part},
               {"samples", answers.samples},
               {"probabilities", answers.probabilities},
               {"outputs", answers.outputs}};
  for (const RunAnswers::Class& each : answers.classes)
    json["classes"].push_back(
        {{"name", each.name}, {"samples", each.samples}, {"answers", each.answers}, {"right", each.right}});
  if (!answers.confusion.empty()) json["confusion"] = answers.confusion;
  if (!answers.columns.empty()) json["columns"] = answers.columns;
  for (const RunAnswers::Mistake& mistake : answers.worst)
    json["worst"].push_back(to_json(mistake, !answers.classes.empty()));
  if (!answers.pairs.empty()) json["pairs"] = answers.pairs;
  if (answers.boundary) json["boundary"] = to_json(*answers.boundary);
  if (const auto& filters = answers.filters)
    json["filters"] = {
        {"layer", filters->layer}, {"all", filters->all}, {"before", filters->before}, {"after", filters->after}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RunAnswers> read_answers(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::string text = read_text(path, kMostBytes);
  try {
    return parse_answers(Json::parse(text));
  } catch (const std::exception& error) {
    throw Error(ErrorCode::data, fmt::format("{}: is damaged: {}; remove it, and the report is made without it",
                                             path.string(), one_line(error.what())));
  }
}

}  // namespace lockstep
