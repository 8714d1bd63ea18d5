#include "lockstep/lab/record.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

enum class Colour { red, green };

struct Timing {
  int threads = 1;
  std::string backend{};
  std::string device{};
  Colour colour = Colour::red;
  bool quick = false;
  std::optional<double> accuracy{};
  std::vector<double> loss{};
  std::map<std::string, double> share{};
  std::int64_t batch = 16;
  static constexpr auto fields() {
    using R = Timing;
    return std::make_tuple(field("threads", &R::threads), field("backend", &R::backend),
                           defaulted("device", &R::device), field("colour", &R::colour), field("quick", &R::quick),
                           field("accuracy", &R::accuracy), field("loss", &R::loss), field("share of ", &R::share),
                           defaulted("batch", &R::batch));
  }
};

Result read_back(const Result& line) { return result_from_json(to_json_line(line), "r.jsonl:7"); }

void expect_refused(const Result& line, const std::string& reason) {
  try {
    record_of<Timing>(read_back(line));
    FAIL() << "accepted without: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_EQ(error.what(), "r.jsonl:7: the field " + reason);
  }
}

}  // namespace

template <>
inline constexpr std::array kNames<Colour> = {"red", "green"};

namespace {

const Timing kTiming{.threads = 4,
                     .colour = Colour::green,
                     .quick = true,
                     .accuracy = 0.5,
                     .loss = {2, 1},
                     .share = {{"relu", 0.25}},
                     .batch = std::int64_t{1} << 40};

TEST(Record, EveryFieldComesBack) {
  const Result line = line_of("measurement", "a", kTiming);
  EXPECT_EQ(line.numbers.at("share of relu"), 0.25);
  EXPECT_EQ(line.words, (std::map<std::string, std::string>{{"backend", ""}, {"colour", "green"}}));
  const Line<Timing> back(read_back(line));
  EXPECT_EQ(back.name, "a");
  EXPECT_EQ(back.threads, 4);
  EXPECT_EQ(back.colour, Colour::green);
  EXPECT_TRUE(back.quick);
  EXPECT_EQ(back.accuracy, 0.5);
  EXPECT_EQ(back.loss, kTiming.loss);
  EXPECT_EQ(back.share, kTiming.share);
  EXPECT_EQ(back.batch, kTiming.batch);
}

TEST(Record, WhatMayBeMissing) {
  Result line = line_of("measurement", "a", kTiming);
  line.numbers.erase("accuracy");
  line.numbers.erase("batch");
  line.series.clear();
  line.numbers["of a later version"] = 1;
  const Timing back = record_of<Timing>(read_back(line));
  EXPECT_FALSE(back.accuracy);
  EXPECT_EQ(back.batch, 16);
  EXPECT_TRUE(back.loss.empty());
}

TEST(Record, ASeriesThatIsTooShort) {
  const Line<Timing> line(read_back(line_of("measurement", "a", kTiming)));
  EXPECT_EQ(series_of(line, &Timing::loss, 2), kTiming.loss);
  EXPECT_THROW(series_of(line, &Timing::loss, 3), Error);
}

TEST(Record, ErrorsNameFileLineAndField) {
  Result line = line_of("measurement", "a", kTiming);
  line.words.erase("backend");
  expect_refused(line, "backend of the measurement \"a\" is missing; measure again");
  line = line_of("measurement", "a", kTiming);
  line.numbers.erase("threads");
  expect_refused(line, "threads of the measurement \"a\" is missing; measure again");
  for (const double number : {1.5, 1e300}) {
    line.numbers["threads"] = number;
    expect_refused(line, "threads of the measurement \"a\" must be a whole number");
  }
  line = line_of("measurement", "a", kTiming);
  line.words["colour"] = "blue";
  expect_refused(line, "colour of the measurement \"a\" has an unknown value");
}

}  // namespace
}  // namespace lockstep
