#include "lockstep/core/fields.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {
namespace {

struct Inner {
  bool flag = false;
  double value = 2;
  static constexpr auto fields() { return std::tuple{field("flag", &Inner::flag), field("value", &Inner::value)}; }
};

struct Outer {
  std::string text{};
  Inner inner{};
  std::optional<double> maybe{};
  int count = 3;
  static constexpr auto fields() {
    return std::tuple{field("text", &Outer::text, "help"), part(&Outer::inner), field("maybe", &Outer::maybe),
                      defaulted("count", &Outer::count)};
  }
};

struct Forgotten {
  double here = 0, forgotten = 0;
  static constexpr auto fields() { return std::tuple{field("here", &Forgotten::here)}; }
};

struct Disordered {
  std::int32_t first = 0;
  double second = 0;
  std::int32_t third = 0;
  static constexpr auto fields() {
    return std::tuple{field("first", &Disordered::first), field("third", &Disordered::third),
                      field("second", &Disordered::second)};
  }
};

struct ForgottenInPadding {
  double here = 0;
  bool flag = false, forgotten = false;
  static constexpr auto fields() {
    return std::tuple{field("here", &ForgottenInPadding::here), field("flag", &ForgottenInPadding::flag)};
  }
};

struct Empty {
  static constexpr std::tuple<> fields() { return {}; }
};

static_assert(lists_every_member<Inner>() && lists_every_member<Outer>() && lists_every_member<Empty>());
static_assert(!lists_every_member<Forgotten>() && !lists_every_member<Disordered>() &&
              !lists_every_member<ForgottenInPadding>());

TEST(Fields, EachIsVisitedOnceWithItsValue) {
  Outer record{.text = "t", .maybe = 1.5};
  std::string names;
  for_each_field(record, [&](const auto& field, auto& value) {
    names += std::string(field.name) + (field.required ? " " : "? ");
    if constexpr (std::is_same_v<decltype(value), int&>) value = 7;
  });
  EXPECT_EQ(names, "text flag value maybe count? ");
  EXPECT_EQ(record.count, 7);
}

}  // namespace
}  // namespace lockstep
