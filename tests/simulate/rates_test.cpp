#include "lockstep/simulate/rates.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

SectionRates example() {
  SectionRates rates;
  rates.sections.resize(kFixedSections + 2);
  rates.sections[kLossSection] = {{10, 1.0}, {30, 2.0}};
  rates.sections[kReduceSection] = {{100, 5.0}};
  return rates;
}

SectionRates example_with_call(SectionRates rates, double seconds) {
  rates.call_seconds[kGatherSection] = seconds;
  return rates;
}

TEST(Rates, StraightBetweenPointsElseInProportion) {
  const SectionRates rates = example();
  EXPECT_DOUBLE_EQ(rates.seconds(kLossSection, 10, 0), 1.0);
  EXPECT_DOUBLE_EQ(rates.seconds(kLossSection, 20, 0), 1.5);
  EXPECT_DOUBLE_EQ(rates.seconds(kLossSection, 5, 0), 0.5);
  EXPECT_DOUBLE_EQ(rates.seconds(kLossSection, 60, 0), 4.0);
}

TEST(Rates, BytesWhereThereAreNoOperations) {
  EXPECT_DOUBLE_EQ(example().seconds(kLossSection, 0, 20), 1.5);
  EXPECT_DOUBLE_EQ(example().seconds(kLossSection, 10, 20), 1.0);
}

TEST(Rates, AddingRanksCostsWhatAddingSlotsDoes) { EXPECT_DOUBLE_EQ(example().seconds(kExchangeSection, 50, 0), 2.5); }

TEST(Rates, NoTimeWithoutWorkOrPoints) {
  EXPECT_EQ(example().seconds(kLossSection, 0, 0), 0);
  EXPECT_EQ(example().seconds(kWaitSection, 10, 10), 0);
  EXPECT_EQ(example().seconds(1000, 10, 10), 0);
}

TEST(Rates, SurviveTheirFile) {
  const SectionRates again = parse_rates(rates_json(example()));
  ASSERT_EQ(again.sections.size(), example().sections.size());
  EXPECT_DOUBLE_EQ(again.seconds(kLossSection, 20, 0), 1.5);
  EXPECT_THROW(parse_rates("{}"), Error);
  EXPECT_THROW(parse_rates(R"({"sections": [[[2, 1], [1, 1]]]})"), Error);
  EXPECT_THROW(parse_rates(R"({"sections": [[[0, 1]]]})"), Error);
}

TEST(Rates, CallsThatCountNoWorkTakeTheirTime) {
  SectionRates rates = example();
  rates.call_seconds.assign(rates.sections.size(), 0);
  rates.call_seconds[kGatherSection] = 0.25;
  const SectionRates again = parse_rates(rates_json(rates));
  EXPECT_DOUBLE_EQ(again.seconds(kGatherSection, 0, 0), 0.25);
  EXPECT_EQ(again.seconds(kWaitSection, 0, 0), 0);
  EXPECT_DOUBLE_EQ(median_rates({rates, rates, example_with_call(rates, 0.75)}).call_seconds[kGatherSection], 0.25);
  EXPECT_THROW(parse_rates(R"({"sections": [], "calls": [-1]})"), Error);
}

TEST(Rates, OfEveryRank) {
  SectionRates other = example();
  other.sections[kLossSection] = {{10, 3.0}};
  const std::vector<SectionRates> again = parse_rank_rates(rank_rates_json({example(), other}));
  ASSERT_EQ(again.size(), 2U);
  EXPECT_DOUBLE_EQ(again[0].seconds(kLossSection, 10, 0), 1.0);
  EXPECT_DOUBLE_EQ(again[1].seconds(kLossSection, 10, 0), 3.0);
  EXPECT_THROW(parse_rank_rates("[]"), Error);
  EXPECT_THROW(parse_rank_rates("[{}]"), Error);
}

TEST(Rates, ChargesLetTimePass) {
  const SectionRates rates = example();
  double passed = 0;
  RatesCharge charge(rates, [&](double seconds) { passed += seconds; });
  Recorder recorder(rates.sections.size(), 0, Recorder::Clock::now(), &charge);
  recorder.close(kLossSection, 10, 0);
  recorder.close(kWaitSection);
  recorder.close(kExchangeSection, 100, 0);
  EXPECT_DOUBLE_EQ(passed, 6.0);
  EXPECT_DOUBLE_EQ(charge.total_seconds(), 6.0);
}

}  // namespace
}  // namespace lockstep
