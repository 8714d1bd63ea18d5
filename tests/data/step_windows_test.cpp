#include "lockstep/data/step_windows.hpp"

#include "lockstep/data/memory_dataset.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

/// Three sequences of two features and six steps: feature f at step t of sample i is 100 i + 10 f + t, its class t % 4.
std::shared_ptr<const Dataset> sequences(const std::vector<std::int64_t>& lengths = {}, std::int64_t classes = 4) {
  Array x = make_array(ElementType::float64, {3, 2, 6}), y = make_array(ElementType::uint8, {3, 6});
  for (std::size_t i = 0; i < 36; ++i) x.as<double>()[i] = double(100 * (i / 12) + 10 * (i / 6 % 2) + i % 6);
  for (std::size_t i = 0; i < 18; ++i) y.as<std::uint8_t>()[i] = std::uint8_t(i % 6 % 4);
  Targets targets{.labels = {}, .classes = 0, .values = std::move(y), .weights = {}, .step_classes = classes};
  return std::make_shared<MemoryDataset>(std::move(x), Shape{2, 6}, std::move(targets), "sequences", std::nullopt,
                                         std::nullopt, false, lengths);
}

TEST(StepWindows, AreStepsOfTheirSequences) {
  const auto base = sequences();
  const StepWindows windows(*base, 2, "truncate");
  EXPECT_EQ(windows.size(), 9);
  EXPECT_EQ(windows.windows(), 3);
  EXPECT_EQ(windows.sample_shape(), (Shape{2, 2}));
  EXPECT_EQ(windows.target_size(), 2);
  EXPECT_EQ(windows.step_classes(), 4);
  const std::vector<std::int64_t> ids = {7, 0, 5};
  std::vector<double> x(4 * 3), t(2 * 3);
  windows.gather(ids, dense_matrix(x.data(), 4, 3));
  EXPECT_EQ(x, (std::vector<double>{202, 0, 104, 203, 1, 105, 212, 10, 114, 213, 11, 115}));
  windows.targets(ids, dense_matrix(t.data(), 2, 3));
  EXPECT_EQ(t, (std::vector<double>{2, 0, 0, 3, 1, 1}));
}

TEST(StepWindows, RefusesWhatCannotBeCut) {
  expect_error(ErrorCode::usage, "truncate: 6 steps are not whole windows of 4; choose a divisor",
               [] { StepWindows(*sequences(), 4, "truncate"); });
  expect_error(ErrorCode::usage, "truncate: needs sequences that all have the same number of steps", [] {
    StepWindows(*sequences({6, 2, 3}), 2, "truncate");
  });
  expect_error(ErrorCode::usage, "truncate: needs data with a class for every step",
               [] { StepWindows(*sequences({}, 0), 2, "truncate"); });
}

}  // namespace
}  // namespace lockstep
