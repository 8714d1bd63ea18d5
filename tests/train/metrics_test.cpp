// Metrics against numbers worked out by hand, and what is watched from epoch to epoch.
#include "lockstep/train/metrics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

MemoryDataset with_labels(const std::vector<std::int32_t>& labels, std::int64_t classes) {
  Targets targets{.labels = labels, .classes = classes};
  return {make_array(ElementType::float64, {std::ssize(labels), 1}), Shape{1}, std::move(targets)};
}

double value(const std::string& name, const SampleScores& scores, const Dataset& data, std::int64_t outputs) {
  const std::vector<MetricValue> values = metric_values({*metric_named(name)}, scores, data, outputs, 0);
  EXPECT_EQ(values.size(), 1U);
  return values.at(0).value;
}

TEST(Metrics, OfClasses) {
  const MemoryDataset data = with_labels({0, 0, 0, 1, 1, 2}, 4);  // nothing is, or is taken for, class 3
  SampleScores scores;
  scores.resize(64, true);
  const std::int64_t answers[] = {0, 0, 1, 1, 0, 1}, places[] = {0, 0, 1, 0, 2, 3};
  for (std::size_t s = 0; s < 6; ++s) scores.answer[s] = answers[s], scores.place[s] = places[s];
  const auto f1 = metric_values({{MetricKind::precision}, {MetricKind::recall}, {MetricKind::f1}}, scores, data, 4, 0);
  EXPECT_EQ(f1[0].per_class, (std::vector<double>{2.0 / 3, 1.0 / 3, 0, 0}));
  EXPECT_EQ(f1[1].per_class, (std::vector<double>{2.0 / 3, 0.5, 0, 0}));
  EXPECT_EQ(f1[2].per_class, (std::vector<double>{2.0 / 3, 0.4, 0, 0}));
  EXPECT_NEAR(f1[0].value, 1.0 / 3, 1e-15);  // class 3 does not occur
  EXPECT_NEAR(f1[2].value, (2.0 / 3 + 0.4) / 3, 1e-15);
  EXPECT_EQ(value("top-1", scores, data, 4), 0.5);
  EXPECT_EQ(value("top-2", scores, data, 4), 4.0 / 6);
  EXPECT_EQ(value("top-4", scores, data, 4), 1);
}

TEST(Metrics, AreaUnderTheCurveCountsTiesHalf) {
  const MemoryDataset data = with_labels({0, 1, 0, 1, 1}, 2);
  SampleScores scores;
  scores.resize(64, true);
  const double margins[] = {0.1, 0.4, 0.4, 0.9, -1};
  std::copy(std::begin(margins), std::end(margins), scores.margin.begin());
  // Pairs in order: (0.1,0.4), (0.1,0.9), (0.4,0.9); a tie (0.4,0.4); two with -1 are not.
  EXPECT_EQ(value("auc", scores, data, 1), 3.5 / 6);
  scores.margin[2] = std::nan("");
  EXPECT_TRUE(std::isnan(value("auc", scores, data, 1)));
}

TEST(Metrics, OfNumbers) {
  Array values = make_array(ElementType::float64, {3, 1});
  values.as<double>()[0] = 1, values.as<double>()[1] = 2, values.as<double>()[2] = 6;
  const MemoryDataset data(make_array(ElementType::float64, {3, 1}), Shape{1}, make_values(std::move(values), "y"));
  const double outputs[] = {1.5, 2, 4};
  SampleScores scores;
  scores.resize(64, false);
  const double targets[] = {1, 2, 6};
  score_samples<double>(Loss::squared_error, {outputs, 1, 3, 3}, {.values = {targets, 1, 3, 3}}, 0, scores);
  EXPECT_EQ(value("mae", scores, data, 1), 2.5 / 3);
  EXPECT_EQ(value("rmse", scores, data, 1), std::sqrt(4.25 / 3));
  EXPECT_EQ(value("r2", scores, data, 1), 1 - 4.25 / 14);
}

TEST(Metrics, HaveNames) {
  for (const char* name : {"loss", "accuracy", "top-5", "precision", "recall", "f1", "auc", "mae", "rmse", "r2"})
    EXPECT_EQ(metric_named(name)->name(), name);
  for (const char* name : {"", "top-", "top-0", "top-5x", "F1", "top-99999999999999999999"})
    EXPECT_FALSE(metric_named(name)) << name;
}

struct Watched {
  DataSplits data = load_data({.source = "moons", .split = {.validation = 40}, .count = 140, .noise = 0.4});
  std::vector<EpochReport> fit(const TrainOptions& options, std::int64_t epochs, TrainingState* stop_after = nullptr) {
    Network net({2});
    net.add(Linear{.out = 8}).add(Tanh{}).add(Linear{.out = 2});
    net.initialise(1);
    Trainer trainer(net, options);
    if (stop_after == nullptr) return trainer.fit(*data.train, {.epochs = epochs, .validation = data.validation.get()});
    auto reports = trainer.fit(*data.train, {.epochs = 3, .validation = data.validation.get()});
    *stop_after = trainer.state();
    Trainer other(net, options);
    other.restore(*stop_after);
    const auto rest = other.fit(*data.train, {.epochs = epochs - 3, .validation = data.validation.get()});
    reports.insert(reports.end(), rest.begin(), rest.end());
    EXPECT_EQ(other.stopped_early(), !reports.empty() && reports.back().stops);
    return reports;
  }
};

TEST(EarlyStopping, EndsAfterEpochsWithoutAGain) {
  Watched watched;
  const TrainOptions options{.optimizer = Adam{.lr = 0.1},
                             .batch = 16,
                             .early_stopping = EarlyStopping{.patience = 4, .metric = "loss", .min_gain = 0.001}};
  const std::vector<EpochReport> reports = watched.fit(options, 200);
  ASSERT_LT(reports.size(), 200U);
  double best = 1e9;
  std::int64_t best_epoch = 0;
  for (const EpochReport& report : reports) {
    if (report.validation->loss < best - 0.001) best = report.validation->loss, best_epoch = report.epoch;
    EXPECT_EQ(report.best_epoch, best_epoch);
    EXPECT_EQ(report.stops, report.epoch - best_epoch >= 4);
  }
  EXPECT_TRUE(reports.back().stops);
  TrainingState state;
  const std::vector<EpochReport> resumed = watched.fit(options, 200, &state);
  ASSERT_EQ(resumed.size(), reports.size());
  EXPECT_EQ(resumed.back().weight_hash, reports.back().weight_hash);
  EXPECT_EQ(resumed.back().best_epoch, reports.back().best_epoch);
}

TEST(EarlyStopping, NeedsValidation) {
  Watched watched;
  watched.data.validation = nullptr;
  EXPECT_THROW(watched.fit({.early_stopping = EarlyStopping{.patience = 1}}, 2), Error);
}

TEST(Plateau, LowersTheRate) {
  Watched watched;
  const TrainOptions options{
      .optimizer = Sgd{.lr = 0x1p-30},  // nothing gains
      .schedule = {.kind = ScheduleKind::plateau, .factor = 0.5, .final = 0.2, .patience = 2, .metric = "f1"},
      .batch = 50};
  std::vector<double> rates;
  TrainingState state;
  for (const EpochReport& report : watched.fit(options, 9, &state)) rates.push_back(report.rate * 0x1p30);
  EXPECT_EQ(state.rate_drops, 1);
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2}));
}

TEST(OneCycle, RisesAndFalls) {
  const Schedule schedule{.kind = ScheduleKind::one_cycle, .final = 0.01, .start = 0.1, .peak = 0.25};
  EXPECT_NEAR(schedule_factor(schedule, 0, 0, 100), 0.1, 1e-15);
  EXPECT_NEAR(schedule_factor(schedule, 25, 0, 100), 1, 1e-15);
  EXPECT_NEAR(schedule_factor(schedule, 100, 0, 100), 0.01, 1e-15);
  for (std::int64_t step = 0; step < 100; ++step) {
    const double here = schedule_factor(schedule, step, 0, 100), next = schedule_factor(schedule, step + 1, 0, 100);
    EXPECT_EQ(next > here, step < 25) << step;
  }
}

}  // namespace
}  // namespace lockstep
