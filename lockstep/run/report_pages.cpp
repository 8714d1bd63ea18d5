#include "lockstep/run/report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "lockstep/core/sha256.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/pages/answers.hpp"

namespace lockstep {

using namespace report;

namespace {

constexpr std::size_t kMostEpochRows = 60;  // of the table of epochs; the curves show all of them

/// The scores that say most about the model, and on what.
struct Best {
  const char* on;
  Scores scores;
};

std::optional<Best> best_scores(const RunHistory& history) {
  if (history.test) return Best{"the test set", *history.test};
  if (history.epochs.empty()) return {};
  const EpochReport& last = history.epochs.back().scores;
  if (last.validation) return Best{"the validation set", *last.validation};
  if (history.final_train) return Best{"the training set", *history.final_train};
  return Best{"the training set during the last epoch", last.train};
}

std::optional<std::string> warning_of(const RunHistory& history) {
  if (history.epochs.empty()) return std::nullopt;
  const auto during = loss_warning(history.first_loss, history.epochs.back().scores.train);
  return during || !history.final_train ? during : loss_warning(history.first_loss, *history.final_train);
}

double total_seconds(const RunHistory& history) {
  const auto found = history.phases.find("total");
  return found == history.phases.end() ? 0 : found->second;
}

std::vector<double> epoch_seconds(const RunHistory& history) {
  std::vector<double> out;
  for (const RunEpoch& epoch : history.epochs)
    if (epoch.seconds) out.push_back(*epoch.seconds);
  return out;
}

/// The phase with the largest share of the time.
std::string slowest_phase(const RunHistory& history) {
  std::string name;
  double most = 0;
  for (const Phase& phase : kPhases)
    if (const auto found = history.phases.find(phase.name); found != history.phases.end() && found->second > most)
      name = phase.name, most = found->second;
  const double total = total_seconds(history);
  return name.empty() || total <= 0 ? ""
                                    : fmt::format(" The largest part, {:.0f} %, is `{}`.", 100 * most / total, name);
}

Headline headline(const RunHistory& history, const Model* model) {
  Headline out;
  if (const auto best = best_scores(history)) {
    if (best->scores.accuracy())
      out.numbers.push_back(
          {lockstep::percent(best->scores.accuracy()), fmt::format("accuracy on {}", best->on),
           fmt::format("{} of {} right", with_commas(*best->scores.correct), with_commas(best->scores.samples))});
    out.numbers.push_back({loss_text(best->scores.loss), fmt::format("loss on {}", best->on), ""});
  }
  if (const auto times = epoch_seconds(history); !times.empty()) {
    const Summary summary = summarise(times);
    out.numbers.push_back(
        {format_number(summary.median, report::seconds()), "per epoch",
         fmt::format("median of {}, from {} to {}", summary.count, format_number(summary.min, report::seconds()),
                     format_number(summary.max, report::seconds()))});
  }
  if (model != nullptr) {
    const std::int64_t parameters = model->network.trainable_count();
    out.numbers.push_back({with_prefix(double(parameters)), "parameters",
                           fmt::format("{}, {}", with_commas(parameters), to_string(model->network.precision()))});
  }
  return out;
}

std::string summary_words(const RunHistory& history) {
  if (history.epochs.empty()) return "No epoch is complete yet.";
  const EpochReport& last = history.epochs.back().scores;
  std::string out = fmt::format("After **{}** and {} step{}", count_of(last.epoch, "epoch"), with_commas(last.steps),
                                last.steps == 1 ? "" : "s");
  if (const auto best = best_scores(history))
    out += best->scores.accuracy() ? fmt::format(" the network is right on **{}** of {}.",
                                                 lockstep::percent(best->scores.accuracy()), best->on)
                                   : fmt::format(" the loss on {} is **{}**.", best->on, loss_text(best->scores.loss));
  if (const double seconds = total_seconds(history); seconds > 0)
    out += fmt::format(" The steps took {} (without validation and checkpoints) with the kernels of `{}`.{}",
                       duration(seconds), history.backend, slowest_phase(history));
  return out;
}

LineChart curve(const RunHistory& history, bool accuracy) {
  LineSeries train{.name = "training", .tone = Tone::simd}, validation{.name = "validation", .tone = Tone::ranks};
  double least = 1e300, most = 0;
  const auto add = [&](LineSeries& series, std::int64_t epoch, const Scores& scores) {
    if (accuracy && !scores.accuracy()) return;
    const double value = accuracy ? *scores.accuracy() : scores.loss;
    if (value > 0) least = std::min(least, value), most = std::max(most, value);
    series.points.push_back({static_cast<double>(epoch), value});
  };
  for (const RunEpoch& epoch : history.epochs) {
    add(train, epoch.scores.epoch, epoch.scores.train);
    if (epoch.scores.validation) add(validation, epoch.scores.epoch, *epoch.scores.validation);
  }
  LineChart chart{.id = accuracy ? "accuracy" : "loss",
                  .title = accuracy ? "Accuracy" : "Loss",
                  .x = {.title = "Epoch"},
                  .y = {.title = accuracy ? "Accuracy" : "Loss", .format = accuracy ? report::percent(0) : Format{}}};
  if (accuracy && most - least < 0.03) chart.y.format = report::percent(1);
  if (!accuracy && most > 20 * least) chart.y.scale = Scale::log;
  if (history.epochs.size() <= 10)  // whole epochs only
    for (const RunEpoch& epoch : history.epochs) chart.x.ticks.push_back(static_cast<double>(epoch.scores.epoch));
  chart.description = fmt::format("{} per epoch, of {}.", chart.title, count_of(std::ssize(history.epochs), "epoch"));
  if (!train.points.empty()) chart.series.push_back(std::move(train));
  if (!validation.points.empty()) chart.series.push_back(std::move(validation));
  return chart;
}

/// The metrics of the run's validations, by name.
std::vector<std::string> metrics_of(const RunHistory& history) {
  std::vector<std::string> names;
  if (history.epochs.empty() || !history.epochs.back().scores.validation) return names;
  for (const MetricValue& metric : history.epochs.back().scores.validation->metrics) names.push_back(metric.name);
  return names;
}

Table epoch_table(const RunHistory& history) {
  Table table{.id = "epochs",
              .title = "Every epoch",
              .columns = {{.title = "Epoch"},
                          {.title = "Steps"},
                          {.title = "Learning rate", .format = significant(3)},
                          {.title = "Training loss", .format = significant(4)},
                          {.title = "Training accuracy", .format = report::percent(2)},
                          {.title = "Validation loss", .format = significant(4)},
                          {.title = "Validation accuracy", .format = report::percent(2)}}};
  const std::vector<std::string> metrics = metrics_of(history);
  for (const std::string& name : metrics)
    table.columns.push_back({.title = fmt::format("Validation {}", name), .format = significant(4)});
  table.columns.push_back({.title = "Time", .format = report::seconds()});
  table.columns.push_back({.title = "Speed", .unit = "samples/s", .format = report::prefix()});
  const std::size_t count = history.epochs.size(), step = (count + kMostEpochRows - 1) / kMostEpochRows;
  for (std::size_t i = 0; i < count; ++i) {
    if (step > 1 && i % step != 0 && i + 1 != count) continue;
    const RunEpoch& epoch = history.epochs[i];
    const EpochReport& scores = epoch.scores;
    Row row{.cells = {scores.epoch, scores.steps, scores.rate, scores.train.loss, scores.train.accuracy()}};
    row.cells.emplace_back(scores.validation ? Cell(scores.validation->loss) : Cell());
    row.cells.emplace_back(scores.validation ? Cell(scores.validation->accuracy()) : Cell());
    for (const std::string& name : metrics)
      row.cells.emplace_back(scores.validation ? Cell(scores.validation->value(*metric_named(name))) : Cell());
    row.cells.emplace_back(epoch.seconds);
    row.cells.emplace_back(epoch.samples_per_second);
    table.rows.push_back(std::move(row));
  }
  if (step > 1) {
    table.title = "Epochs";
    table.notes.push_back(fmt::format("Every {}th of {} epochs, and the last; metrics.jsonl has all.", step, count));
  }
  table.folded = true;
  table.notes.emplace_back("Training loss and accuracy are taken during the epoch: each batch before its update.");
  // Columns that say nothing: no classes, no validation set, no timings.
  for (std::size_t c = table.columns.size(); c-- > 0;)
    if (std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) { return !row.cells[c].number(); })) {
      table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
      for (Row& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(c));
    }
  return table;
}

constexpr const char* kOther = "other";

/// What of the total no phase has: so that bars and rows add up to the time of the steps.
double other_seconds(const std::map<std::string, double>& phases) {
  double total = 0, named = 0;
  for (const auto& [name, seconds] : phases)
    if (name != "validation") (name == "total" ? total : named) += seconds;
  return std::max(0.0, total - named);
}

/// One stacked bar: of the run, or of each rank.
BarChart phase_chart(const RunHistory& history) {
  BarChart chart{
      .id = "phases",
      .title = history.rank_phases.empty() ? "Where the time of the steps went" : "Where the time of each rank went",
      .description = "Stacked bars of the seconds in each phase of a training step, and in what is left.",
      .axis = {.title = "Time in all epochs", .unit = "s", .format = significant(3)},
      .stacked = true};
  std::vector<std::pair<std::string, const std::map<std::string, double>*>> lines;
  if (history.rank_phases.empty()) lines.emplace_back("all steps", &history.phases);
  for (std::size_t rank = 0; rank < history.rank_phases.size(); ++rank)
    lines.emplace_back(fmt::format("rank {}", rank), &history.rank_phases[rank]);
  const auto seconds_of = [](const std::map<std::string, double>& phases, const char* name) {
    const auto found = phases.find(name);
    return found == phases.end() ? 0 : found->second;
  };
  for (const auto& [label, phases] : lines) chart.groups.push_back({.label = label});
  const auto add = [&](const char* name, bool neutral, const auto& seconds) {
    if (std::none_of(lines.begin(), lines.end(), [&](const auto& line) { return seconds(*line.second) > 0; })) return;
    chart.series.push_back({name, neutral ? Tone::neutral : Tone::automatic});
    for (std::size_t i = 0; i < lines.size(); ++i) chart.groups[i].bars.emplace_back(seconds(*lines[i].second));
  };
  for (const Phase& phase : kPhases)
    add(phase.name, phase.seconds == &PhaseTimes::wait || phase.seconds == &PhaseTimes::bubble,
        [&](const auto& phases) { return seconds_of(phases, phase.name); });
  add(kOther, true, other_seconds);
  return chart;
}

Table phase_table(const RunHistory& history) {
  Table table{.id = "phases",
              .title = "Time per phase",
              .columns = {{.title = "Phase"},
                          {.title = "Time", .format = report::seconds()},
                          {.title = "Share", .format = report::percent(1)}}};
  const double total = total_seconds(history);
  const double other = other_seconds(history.phases);
  const auto add = [&](std::string name, double seconds) {
    table.rows.push_back({.cells = {std::move(name), seconds, total > 0 ? Cell(seconds / total) : Cell()}});
  };
  for (const Phase& phase : kPhases)
    if (const auto found = history.phases.find(phase.name); found != history.phases.end() && found->second > 0)
      add(phase.name, found->second);
  if (other > 0) add(kOther, other);
  add("total", total);
  table.rows.back().mark = Mark::muted;
  if (const auto found = history.phases.find("validation"); found != history.phases.end() && found->second > 0)
    table.rows.push_back({.cells = {"validation, besides", found->second, Cell()}});
  table.notes.push_back(history.rank_phases.empty()
                            ? fmt::format("Means over threads. The named phases are {:.1f} % of the time.",
                                          total > 0 ? 100 * (total - other) / total : 0)
                            : "Of rank 0; the chart has all of them.");
  return table;
}

void add_model(Document& document, const Model& model, const RunParts& parts) {
  const Network& network = model.network;
  Facts facts{.facts = {{"Input and output", fmt::format("{} → {}", network.input().str(), network.output().str())},
                        {"Precision", to_string(network.precision())},
                        {"Trained on", model.info.source},
                        {"Weight hash", weight_hash(network.values())},
                        {"Numerics", fmt::format("version {}", model.numerics_version)}}};
  if (model.info.loss) facts.facts.push_back({"Loss", name_of(*model.info.loss)});
  Table layers{.id = "layers",
               .title = "Layers",
               .columns = {{.title = "Layer"},
                           {.title = "Type"},
                           {.title = "What"},
                           {.title = "Output"},
                           {.title = "Parameters", .format = integer()},
                           {.title = "Work", .unit = "FLOP per sample, forward", .format = report::prefix()}}};
  for (const LayerSummary& layer : network.summary())
    layers.rows.push_back(
        {.cells = {layer.path, layer.type, layer.detail, layer.out.str(), layer.parameters, layer.flops}});
  constexpr std::size_t kLongest = 20;  // rows that stand open
  layers.folded = layers.rows.size() > kLongest;
  Section& section = document.section("Network").add(network_drawing(network, parts.profile));
  if (parts.answers != nullptr) add_filters(section, *parts.answers);
  section.add(std::move(facts)).add(std::move(layers));
}

/// The scores that have metrics, of the last weights: those of test, of validation, of training.
const Scores* scores_with_metrics(const RunHistory& history) {
  if (history.test && !history.test->metrics.empty()) return &*history.test;
  if (history.final_train && !history.final_train->metrics.empty()) return &*history.final_train;
  if (history.epochs.empty() || !history.epochs.back().scores.validation) return nullptr;
  const Scores& last = *history.epochs.back().scores.validation;
  return last.metrics.empty() ? nullptr : &last;
}

/// The metrics, and those of every class.
void add_metrics(Document& document, const RunHistory& history, const Model* model) {
  const Scores* const scores = scores_with_metrics(history);
  if (scores == nullptr) return;
  const char* const on = scores == (history.test ? &*history.test : nullptr)                 ? "the test set"
                         : scores == (history.final_train ? &*history.final_train : nullptr) ? "the training set"
                                                                                             : "the validation set";
  Table all{.id = "metrics",
            .title = fmt::format("Metrics on {}", on),
            .columns = {{.title = "Metric"}, {.title = "Value", .format = significant(4)}}};
  Table classes{.id = "classes", .title = fmt::format("Every class on {}", on), .columns = {{.title = "Class"}}};
  std::size_t count = 0;
  for (const MetricValue& metric : scores->metrics) {
    all.rows.push_back({.cells = {metric.name, metric.value}});
    if (metric.per_class.empty()) continue;
    classes.columns.push_back({.title = metric.name, .format = significant(4)});
    count = std::max(count, metric.per_class.size());
  }
  for (std::size_t c = 0; c < count; ++c) {
    const bool named = model != nullptr && c < model->info.class_names.size();
    Row row{.cells = {named ? fmt::format("{} {}", c, model->info.class_names[c]) : std::to_string(c)}};
    for (const MetricValue& metric : scores->metrics)
      if (!metric.per_class.empty()) row.cells.emplace_back(metric.per_class[c]);
    classes.rows.push_back(std::move(row));
  }
  constexpr std::size_t kLongest = 20;  // rows that stand open
  classes.folded = classes.rows.size() > kLongest;
  Section& section = document.section("Metrics");
  section.add(std::move(all));
  if (count > 0) section.add(std::move(classes));
}

}  // namespace

Document history_document(const RunParts& parts) {
  const RunHistory& history = parts.history;
  const Model* const model = parts.model;
  Document document{.title = fmt::format("Training: {}", history.name)};
  if (model != nullptr)
    document.subtitle = fmt::format("{} → {} on {}, {}", model->network.input().str(), model->network.output().str(),
                                    model->info.source, to_string(model->network.precision()));
  Section& summary = document.section("Summary");
  summary.add(headline(history, model)).add(Paragraph{summary_words(history)});
  if (const auto warning = warning_of(history)) summary.add(Notice{.text = *warning});
  if (!history.weight_hash.empty() || !parts.origin.empty())
    summary.add(Paragraph{fmt::format(
        "{}{}{}", history.weight_hash.empty() ? "" : fmt::format("Weight hash `{}`.", short_hash(history.weight_hash)),
        history.weight_hash.empty() || parts.origin.empty() ? "" : " ",
        parts.origin.empty() ? "" : fmt::format("Run {}.", parts.origin))});
  if (history.backend == "library")
    summary.add(Notice{.text = "The `library` kernels round in an order of their own: the weights are not those of the "
                               "other backends, bit for bit."});
  Section& learning = document.section("Learning");
  Panels curves{.charts = {curve(history, false)}};
  if (LineChart accuracy = curve(history, true); !accuracy.series.empty())
    curves.charts.emplace_back(std::move(accuracy));
  learning.add(std::move(curves)).add(epoch_table(history));
  add_metrics(document, history, model);
  if (parts.answers != nullptr) add_answers(document, *parts.answers);
  if (model != nullptr) add_model(document, *model, parts);
  if (history.phases.empty()) return document;
  Section& time = document.section("Time").add(phase_chart(history)).add(phase_table(history));
  add_profile(time, parts.profile);
  return document;
}

}  // namespace lockstep
