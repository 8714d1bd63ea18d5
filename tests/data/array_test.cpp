#include "lockstep/data/array.hpp"

#include <limits>

#include "tests/data/support.hpp"

namespace lockstep {
namespace {

TEST(Array, KnowsItsTypesAndSizes) {
  EXPECT_EQ(element_size(ElementType::uint8), 1);
  EXPECT_EQ(element_size(ElementType::int16), 2);
  EXPECT_EQ(element_size(ElementType::float32), 4);
  EXPECT_EQ(element_size(ElementType::float64), 8);
  EXPECT_EQ(to_string(ElementType::uint64), "uint64");
  EXPECT_EQ(element_type_of<std::int8_t>(), ElementType::int8);
  EXPECT_EQ(element_type_of<std::uint16_t>(), ElementType::uint16);
  EXPECT_EQ(element_type_of<std::uint32_t>(), ElementType::uint32);
  EXPECT_EQ(element_type_of<std::int64_t>(), ElementType::int64);
  EXPECT_EQ(element_type_of<float>(), ElementType::float32);
}

template <class T>
void expect_values(const std::vector<T>& values) {
  const Array array = array_from<T>({static_cast<std::int64_t>(values.size())}, values);
  ASSERT_EQ(array.elements(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(array.value(static_cast<std::int64_t>(i)), static_cast<double>(values[i])) << to_string(array.type);
  }
}

template <class T>
void expect_limits() {
  expect_values<T>({std::numeric_limits<T>::lowest(), T{0}, T{1}, std::numeric_limits<T>::max()});
}

TEST(Array, GivesEveryTypeAsDouble) {
  expect_limits<std::uint8_t>();
  expect_limits<std::int8_t>();
  expect_limits<std::uint16_t>();
  expect_limits<std::int16_t>();
  expect_limits<std::uint32_t>();
  expect_limits<std::int32_t>();
  expect_limits<std::uint64_t>();
  expect_limits<std::int64_t>();
  expect_limits<float>();
  expect_limits<double>();
}

TEST(Array, DescribesItself) {
  EXPECT_EQ(make_array(ElementType::uint8, {60000, 28, 28}).describe(), "uint8 [60000,28,28]");
  EXPECT_EQ(make_array(ElementType::float64, {}).elements(), 1);
  EXPECT_EQ(make_array(ElementType::float64, {3, 4, 5}).row_elements(), 20);
  EXPECT_EQ(make_array(ElementType::float64, {0, 4}).row_elements(), 0);
}

TEST(Array, RefusesToBeReadAsAnotherType) {
  const Array array = make_array(ElementType::int32, {2, 3});
  expect_error(ErrorCode::bug, "array: int32 [2,3] read as float32", [&] { (void)array.as<float>(); });
}

}  // namespace
}  // namespace lockstep
