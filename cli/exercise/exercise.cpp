#include "cli/exercise/exercise.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

std::int64_t element_bytes(Element element) { return element == Element::float32 || element == Element::int32 ? 4 : 8; }

const char* c_name(Element element) {
  constexpr std::array kNames = {"float", "double", "int32_t", "int64_t"};
  return kNames[static_cast<std::size_t>(element)];
}

std::int64_t count_of_dims(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t each : dims) count *= each;
  return count;
}

float CaseRandom::uniform() {
  const std::uint64_t at = next_++;
  return uniform_float(random_block({.seed = seed_, .purpose = Purpose::data}, at / 4)[at % 4]);
}

std::int64_t CaseRandom::below(std::int64_t count) {
  return static_cast<std::int64_t>(double(uniform()) * double(count));
}

const Exercise& exercise_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Exercise& each : exercises()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw Error(ErrorCode::usage, fmt::format("no exercise is called {}{}", one_line(name), suggestion(name, names)));
}

std::vector<CaseShape> awkward_shapes(const std::vector<std::int64_t>& most) {
  // Neighbours in the list differ much, so that a shape of neighbours is long in one direction and short in another.
  constexpr std::array<std::int64_t, 15> kSizes = {1, 17, 2, 33, 3, 16, 8, 31, 5, 65, 7, 15, 64, 9, 13};
  std::vector<CaseShape> shapes;
  const auto size = [&](std::size_t at, std::size_t which) {
    return std::min(kSizes[at % kSizes.size()], most[which]);
  };
  for (std::size_t first = 0; first < kSizes.size(); ++first) {
    CaseShape shape;
    for (std::size_t which = 0; which < most.size(); ++which) shape.push_back(size(first + 4 * which, which));
    shapes.push_back(shape);
  }
  for (std::size_t which = 0; which < most.size(); ++which) {
    CaseShape shape(most.size(), 3);
    for (std::size_t other = 0; other < most.size(); ++other) shape[other] = std::min<std::int64_t>(3, most[other]);
    shape[which] = 0;
    shapes.push_back(shape);
  }
  shapes.push_back(CaseShape(most.size(), 1));
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  return shapes;
}

}  // namespace lockstep::cli
