#include "lockstep/data/samples.hpp"

#include <limits>

#include "tests/data/support.hpp"

namespace lockstep {
namespace {

Array labels(const std::vector<double>& values) {
  return array_from<double>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Labels, BecomeClasses) {
  const Targets targets = make_labels(labels({2, 0, 1, 2}), 0, LabelRule::as_stored, "y");
  EXPECT_EQ(targets.classes, 3);
  EXPECT_EQ(targets.labels, (std::vector<std::int32_t>{2, 0, 1, 2}));
  EXPECT_EQ(make_labels(labels({0, 1}), 10, LabelRule::as_stored, "y").classes, 10);
  EXPECT_EQ(make_labels(labels({10, 1, 9}), 0, LabelRule::digits, "y").labels, (std::vector<std::int32_t>{0, 1, 9}));
  EXPECT_EQ(make_labels(labels({3, 1}), 0, LabelRule::from_one, "y").labels, (std::vector<std::int32_t>{2, 0}));
}

TEST(Labels, OfMatlabFollowOneRule) {
  EXPECT_EQ(mat_label_rule(labels({10, 1, 5})), LabelRule::digits);
  EXPECT_EQ(mat_label_rule(labels({1, 2, 3})), LabelRule::from_one);
  EXPECT_EQ(mat_label_rule(labels({0, 10})), LabelRule::as_stored);
  EXPECT_EQ(mat_label_rule(labels({1, 11})), LabelRule::from_one);
  EXPECT_EQ(mat_label_rule(labels({1, 5}), 10), LabelRule::digits) << "a file without zeros, of ten classes";
  EXPECT_EQ(mat_label_rule(labels({1, 10}), 12), LabelRule::from_one);
}

TEST(Labels, AndRowsOfWeightsFollowOneRule) {
  EXPECT_EQ(one_based_rule(10), LabelRule::digits);
  EXPECT_EQ(one_based_rule(3), LabelRule::from_one);
  EXPECT_EQ(class_of_label(10, LabelRule::digits), 0);
  EXPECT_EQ(class_of_label(9, LabelRule::digits), 9);
  EXPECT_EQ(class_of_label(3, LabelRule::from_one), 2);
  for (const LabelRule rule : {LabelRule::as_stored, LabelRule::digits, LabelRule::from_one})
    EXPECT_EQ(parse_label_rule(label_rule_names()[static_cast<std::size_t>(rule)]), rule);
  expect_error(ErrorCode::usage, "label_rule: unknown rule \"mod\"", [] { parse_label_rule("mod"); });
}

TEST(Labels, AreRefusedWithTheSample) {
  const auto refuse = [](std::string_view begin, double bad, std::int64_t classes) {
    expect_data_error(begin, [&] { make_labels(labels({1, 0, bad}), classes, LabelRule::as_stored, "y.npy"); });
  };
  refuse("y.npy: sample 2: label 1.5 is not an integer", 1.5, 0);
  refuse("y.npy: sample 2: label nan is not an integer", std::numeric_limits<double>::quiet_NaN(), 0);
  refuse("y.npy: sample 2: label inf is outside", std::numeric_limits<double>::infinity(), 0);
  refuse("y.npy: sample 2: label -1 is negative; classes are integers from 0", -1, 0);
  refuse("y.npy: sample 2: label -1 is outside the 3 classes 0..2", -1, 3);
  refuse("y.npy: sample 2: label 3 is outside the 3 classes 0..2", 3, 3);
  refuse("y.npy: sample 2: label 2000000000 is outside the 1048576 classes", 2e9, 0);
}

TEST(Values, MustBeFinite) {
  EXPECT_EQ(make_values(labels({1, 2.5}), "t").values.dims, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(make_values(labels({1, 2.5}), "t").describe(), "targets [1]");
  const double infinity = std::numeric_limits<double>::infinity();
  const Array bad = array_from<double>({2, 2}, std::vector<double>{1, 2, 3, infinity});
  expect_data_error("t.npy: sample 1: target inf is not finite", [&] { make_values(bad, "t.npy"); });
}

}  // namespace
}  // namespace lockstep
