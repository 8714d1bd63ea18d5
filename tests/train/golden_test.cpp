// Networks trained by Lockstep and by PyTorch in float64 agree to ten digits: the losses, the first gradient, the
// weights and running averages after five steps, the outputs. tests/golden/make_golden.py made the numbers.
#include <gtest/gtest.h>

#include <cctype>
#include <numeric>

#include "tests/train/golden.hpp"

namespace lockstep::golden {
namespace {

constexpr double kRelative = 1e-10;
// What cancels exactly on paper (the bias before a batch normalisation) is rounding noise of about 1e-17 in both.
constexpr double kFloor = 1e-15;

/// Compares a tensor with what the file keeps of it.
::testing::AssertionResult matches(std::span<const double> actual, const Json& expected) {
  const double largest = expected["max"], magnitude = expected["abs"];
  const auto count = static_cast<std::int64_t>(actual.size());
  const auto off = [](double value, double wanted, double tolerance) {
    return !(std::abs(value - wanted) <= tolerance);
  };
  double sum = 0, abs = 0, dot = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = actual[std::size_t(i)];
    sum += value;
    abs += std::abs(value);
    dot += value * noise(kDot, i);
  }
  const double tolerance = kRelative * magnitude + kFloor * double(count);
  if (off(sum, expected["sum"], tolerance))
    return ::testing::AssertionFailure() << "sum " << sum << ", not " << expected["sum"];
  if (off(abs, magnitude, tolerance)) return ::testing::AssertionFailure() << "|sum| " << abs << ", not " << magnitude;
  if (off(dot, expected["dot"], tolerance))
    return ::testing::AssertionFailure() << "dot " << dot << ", not " << expected["dot"];
  const auto kept = static_cast<std::int64_t>(expected["values"].size());
  for (std::int64_t j = 0; j < kept; ++j) {
    const std::int64_t i = count <= kept ? j : std::int64_t(mix(kSample, j)) % count;
    const double value = actual[std::size_t(i)], wanted = expected["values"][std::size_t(j)];
    if (off(value, wanted, kRelative * largest + kFloor))
      return ::testing::AssertionFailure() << "element " << i << " is " << value << ", not " << wanted;
  }
  return ::testing::AssertionSuccess();
}

struct Case {
  Json json;
  std::int64_t slots;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const Case& c, std::ostream* out) { *out << c.json["name"] << " in " << c.slots << " slots"; }

/// The cases that hold this key, each in all its slot counts.
std::vector<Case> cases_with(const char* key) {
  std::vector<Case> cases;
  const Json file = load();
  for (const Json& c : file["cases"])
    for (const std::int64_t slots : c["slots"])
      if (c.contains(key)) cases.push_back({c, slots});
  return cases;
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.json["name"].get<std::string>() + "_" + std::to_string(info.param.slots);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Of every step: full-batch steps, or one epoch of batches; with windows, of each of them.
std::vector<double> losses_of(Trainer& trainer, const Dataset& data, const Json& c) {
  std::vector<double> losses;
  const std::int64_t windows = c.contains("truncate") ? data.target_size() / c["truncate"].get<std::int64_t>() : 1;
  const auto epochs = c.contains("batch") ? 1 : std::int64_t(c["losses"].size()) / windows;
  trainer.fit(data, {.epochs = epochs, .on_step = [&](const StepReport& step) { losses.push_back(step.batch_loss); }});
  return losses;
}

/// Outputs [samples][classes][steps] behind the end of a sequence are nobody's: 0 in the file.
void clear_ended(std::vector<double>& outputs, const Dataset& data, std::span<const std::int64_t> ids,
                 const Shape& shape) {
  std::vector<std::int64_t> lengths(ids.size());
  data.lengths(ids, lengths);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (std::int64_t(i) % shape[1] >= lengths[i / std::size_t(shape.elements())]) outputs[i] = 0;
}

class Golden : public ::testing::TestWithParam<Case> {
 protected:
  const Json& json = GetParam().json;
  Network network = make_network(json);
  GoldenData data = make_data(json, network);
  Trainer trainer{network, make_options(json, GetParam().slots)};
  std::vector<std::int64_t> ids = [this] {
    std::vector<std::int64_t> all(std::size_t(data.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
};
class Gradient : public Golden {};
class Training : public Golden {};
INSTANTIATE_TEST_SUITE_P(, Gradient, ::testing::ValuesIn(cases_with("gradient")), test_name);
INSTANTIATE_TEST_SUITE_P(, Training, ::testing::ValuesIn(cases_with("weights")), test_name);

TEST_P(Gradient, First) {
  const std::vector<double> gradient = trainer.gradient(data, ids);
  ASSERT_EQ(std::int64_t(gradient.size()), network.parameter_count());
  for (const ParameterInfo& info : network.parameters()) {
    if (!info.trainable()) continue;
    ASSERT_TRUE(json["gradient"].contains(info.name)) << info.name;
    const auto part = std::span(gradient).subspan(std::size_t(info.offset), std::size_t(info.elements()));
    EXPECT_TRUE(matches(part, json["gradient"][info.name])) << info.name;
  }
}

TEST_P(Training, Five) {
  const std::vector<double> losses = losses_of(trainer, data, json);
  ASSERT_EQ(losses.size(), json["losses"].size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(losses[i], json["losses"][i], kRelative * json["losses"][i].get<double>()) << "step " << i;
  ASSERT_EQ(network.parameters().size(), json["weights"].size());
  const double* const values = network.data<double>();
  for (const ParameterInfo& info : network.parameters()) {
    ASSERT_TRUE(json["weights"].contains(info.name)) << info.name;
    EXPECT_TRUE(matches({values + info.offset, std::size_t(info.elements())}, json["weights"][info.name])) << info.name;
  }
  std::vector<double> outputs = predict(network, data, ids);
  if (data.step_classes() > 0 && data.has_lengths()) clear_ended(outputs, data, ids, network.output());
  EXPECT_TRUE(matches(outputs, json["outputs"]));
}

/// The well-known recipe for characters (examples/char-gpt.toml), on noise: 20 steps in float32.
TEST(GoldenFloat, LossesOfTheCharacterGpt) {
  const Json file = load();
  for (const Json& c : file["cases"]) {
    if (c["name"] != "character gpt") continue;
    Network network = make_network(c, Precision::float32);
    Trainer trainer(network, make_options(c, 1));
    const std::vector<double> losses = losses_of(trainer, make_data(c, network), c);
    ASSERT_EQ(losses.size(), 20U);
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], c["losses"][i], 1e-4) << "step " << i;
    return;
  }
  FAIL() << "golden.json has no character gpt";
}

TEST(GoldenFile, HoldsThePromisedCases) {
  std::vector<std::string> names;
  const Json file = load();
  for (const Json& c : file["cases"]) names.push_back(c["name"]);
  for (const char* wanted :
       {"lenet5 tanh avg", "lenet5 relu max", "bn cnn", "layer norm", "residual", "awkward convolutions", "momentum",
        "attention", "every step alike", "attention, lengths", "transformer", "character gpt", "nesterov", "adam",
        "adamw", "rmsprop", "squared error", "binary, sigmoid outputs"})
    EXPECT_EQ(std::count(names.begin(), names.end(), wanted), 1) << wanted;
}

TEST(GoldenFile, ComparisonSeesTheNinthDigit) {
  std::vector<double> values(100);
  double sum = 0, abs = 0, dot = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const double value = values[std::size_t(i)] = noise(77, i);
    sum += value;
    abs += std::abs(value);
    dot += value * noise(kDot, i);
  }
  const Json expected = {{"sum", sum}, {"abs", abs}, {"max", 1.0}, {"dot", dot}, {"values", Json::array()}};
  EXPECT_TRUE(matches(values, expected));
  auto exchanged = values;
  std::swap(exchanged[3], exchanged[97]);
  EXPECT_FALSE(matches(exchanged, expected));
  auto off = values;
  for (double& value : off) value *= 1 + 1e-9;
  EXPECT_FALSE(matches(off, expected));
  off[0] = std::nan("");
  EXPECT_FALSE(matches(off, expected));
}

}  // namespace
}  // namespace lockstep::golden
