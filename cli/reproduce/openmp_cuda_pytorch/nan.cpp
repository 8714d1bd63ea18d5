// Why the published timings computed on NaN.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

constexpr std::int64_t kPoints = 100;

/// As the published program has it. exp(x) is infinite from 88.73 on in single precision, from 709.8 on in double.
template <class T>
T published_sigmoid(T x) {
  return std::exp(x) / (std::exp(x) + T(1));
}

template <class T>
T bounded_sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

/// What a layer gives for all points.
struct LayerOutcome {
  double largest_sum = 0;   // of the finite ones
  double not_a_number = 0;  // share of the outputs
  double saturated = 0;     // share of the outputs at which the slope a (1 - a) is exactly 0
};

template <class T>
std::vector<LayerOutcome> walk(const Network& network, const Dataset& data, T (*sigmoid)(T)) {
  std::vector<std::int64_t> ids(kPoints);
  for (std::int64_t i = 0; i < kPoints; ++i) ids[static_cast<std::size_t>(i)] = i;
  std::vector<float> points(2 * kPoints);
  data.gather(ids, dense_matrix(points.data(), 2, kPoints));
  std::vector<T> x(points.begin(), points.end());
  std::vector<LayerOutcome> outcomes;
  std::int64_t in = 2;
  for (const ParameterInfo& info : network.parameters()) {
    if (info.shape.rank() != 2) continue;  // a bias, 0
    const std::int64_t out = info.shape[0];
    const float* const w = network.data<float>() + info.offset;
    std::vector<T> y(static_cast<std::size_t>(out * kPoints));
    LayerOutcome outcome;
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t s = 0; s < kPoints; ++s) {
        T sum = 0;
        for (std::int64_t i = 0; i < in; ++i) sum += T(w[o * in + i]) * x[static_cast<std::size_t>(i * kPoints + s)];
        const T a = sigmoid(sum);
        if (std::isfinite(sum)) outcome.largest_sum = std::max(outcome.largest_sum, double(sum));
        outcome.not_a_number += std::isnan(a) ? 1 : 0;
        outcome.saturated += a * (1 - a) == 0 ? 1 : 0;
        y[static_cast<std::size_t>(o * kPoints + s)] = a;
      }
    outcome.not_a_number /= double(out * kPoints);
    outcome.saturated /= double(out * kPoints);
    outcomes.push_back(outcome);
    x = std::move(y);
    in = out;
  }
  return outcomes;
}

/// Weights uniform in [0, 1), as published; biases 0.
Network network_of_positive_weights() {
  Network network = deep_network();
  float* const values = network.data<float>();
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const ParameterInfo& info = network.parameters()[p];
    const RandomKey key{.seed = 1, .purpose = Purpose::init, .layer = static_cast<std::uint32_t>(p)};
    for (std::int64_t i = 0; i < info.shape.elements(); ++i)
      values[info.offset + i] = info.shape.rank() == 2 ? static_cast<float>(uniform(key, std::uint64_t(i))) : 0.0F;
  }
  return network;
}

/// Trains with Lockstep's sigmoid; whatever comes of it is the result.
void train(const ExperimentRun& run, const std::string& start, Network network, const Dataset& data) {
  const std::int64_t epochs = run.quick ? 20 : 100;
  TrainOptions options = deep_options(Backend::simd, 0, 50);
  options.loss = Loss::binary_cross_entropy;
  options.optimizer = Adam{.lr = 1e-3};
  TrainedRecord record{.epochs = epochs};
  try {
    Trainer trainer(network, options);
    trainer.fit(data, {.epochs = epochs});
    const Scores scores = trainer.evaluate(data);
    record.accuracy = scores.accuracy().value_or(0);
    record.loss = scores.loss;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::diverged) throw;
    record.diverged = error.what();
  }
  run.record(fmt::format("{}: {}", kTrained, start), record);
}

}  // namespace

void measure_not_a_number(const ExperimentRun& run) {
  run.progress("why the published timings computed on NaN");
  const auto data = moon_points(1000);
  const Network positive = network_of_positive_weights();
  const auto theirs = walk<float>(positive, *data, &published_sigmoid<float>);
  const auto in_double = walk<double>(positive, *data, &published_sigmoid<double>);
  const auto bounded = walk<float>(positive, *data, &bounded_sigmoid<float>);
  const auto drawn = walk<float>(deep_network(), *data, &bounded_sigmoid<float>);
  for (std::size_t l = 0; l < theirs.size(); ++l)
    run.record(fmt::format("{}: {}", kLayers, l + 1), LayerRecord{.largest_sum = bounded[l].largest_sum,
                                                                  .published_nan = theirs[l].not_a_number,
                                                                  .double_nan = in_double[l].not_a_number,
                                                                  .double_slope_0 = in_double[l].saturated,
                                                                  .bounded_nan = bounded[l].not_a_number,
                                                                  .bounded_slope_0 = bounded[l].saturated,
                                                                  .drawn_largest_sum = drawn[l].largest_sum,
                                                                  .drawn_slope_0 = drawn[l].saturated});
  train(run, "uniform in [0, 1)", network_of_positive_weights(), *data);
  train(run, "Xavier, uniform", deep_network(), *data);
}

void describe_not_a_number(const Findings& findings, Document& document) {
  const auto layers = findings.series<LayerRecord>(kLayers);
  if (layers.empty()) return;
  Table table{.title = "Forward through the network of the timings, 100 moons",
              .columns = {column("Layer"), column("Largest sum", fixed(1)), column("float: NaN", percent(1)),
                          column("double: NaN", percent(1)), column("double: slope 0", percent(1)),
                          column("bounded: NaN", percent(1)), column("bounded: slope 0", percent(1)),
                          column("Xavier: slope 0", percent(1))}};
  const auto* first = first_where(layers, [](const LayerRecord& each) { return each.published_nan > 0.0; });
  for (const auto& each : layers)
    table.rows.push_back({.cells = {short_name(each), each.largest_sum, each.published_nan, each.double_nan,
                                    each.double_slope_0, each.bounded_nan, each.bounded_slope_0, each.drawn_slope_0}});
  table.notes = {
      "Shares of the outputs of a layer. float, double: exp(x)/(exp(x)+1) as published, weights uniform in [0, 1), "
      "biases 0. bounded: 1/(1+exp(-x)) in float from the same weights; largest sum: what it is given. Slope 0: a(1-a) "
      "is exactly 0, so no gradient passes. Xavier: Lockstep's weights."};
  Table trained{.title = "Lockstep trains from both",
                .columns = {column("Weights"), column("Epochs", integer()), column("Accuracy", percent(1)),
                            column("Loss", fixed(4)), column("Stopped")}};
  for (const auto& each : findings.series<TrainedRecord>(kTrained))
    trained.rows.push_back({.cells = {short_name(each), double(each.epochs), each.accuracy, each.loss,
                                      each.diverged.empty() ? "no" : each.diverged}});
  trained.notes = {"1000 moons, batches of 50, Adam at 0.001."};
  const std::string seen = first == nullptr ? "Here no output of any layer is NaN."
                                            : fmt::format(
                                                  "Here outputs of layer {} are NaN, where sums reach {:.0f}: exp of "
                                                  "more than 88.7 is infinite in single "
                                                  "precision, and infinity by infinity is not a number.",
                                                  short_name(*first), first->largest_sum.value_or(0));
  double in_double = 0;
  for (const LayerRecord& each : layers) in_double = std::max(in_double, each.double_nan.value_or(0));
  document.section("Why the published timings computed on NaN")
      .add(Paragraph{fmt::format(
          "The published network of the timings starts from weights uniform in [0, 1) and writes the sigmoid as "
          "exp(x)/(exp(x)+1). A sum over 300 inputs near 1 with weights of mean 1/2 is about 150. {} No comparison "
          "with NaN is true, which gives the published accuracy of 0; the times are real all the same, since "
          "multiply-adds take as long on NaN. In double precision, where exp overflows at 709.8, at most {:.0f} % of a "
          "layer's outputs are NaN here, and {:.0f} % of the last hidden layer's outputs have a slope of exactly 0, "
          "through which no gradient passes. Lockstep's sigmoid is bounded for every input, a loss that is not finite "
          "ends a run with exit code 8, and weights are drawn around 0.",
          seen, 100 * in_double, layers.size() < 2 ? 0 : 100 * layers[layers.size() - 2].double_slope_0.value_or(0))})
      .add(std::move(table))
      .add(std::move(trained));
}

}  // namespace lockstep::cli
