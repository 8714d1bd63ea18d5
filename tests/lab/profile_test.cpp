#include "lockstep/lab/profile.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace lockstep {
namespace {

/// Every section of a network of two layers, with times that differ, on `threads` threads.
void fill(Profile& profile, int threads, std::int64_t samples) {
  profile.begin(section_names({"0 linear", "1 relu"}), threads);
  for (int thread = 0; thread < threads; ++thread) {
    Recorder& recorder = profile.recorder(thread);
    for (std::int32_t section = 0; section < kFixedSections + 4; ++section) {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (section % 3) + 20));
      recorder.close(section, section >= kFixedSections ? 1000 * section : 0, 10);
    }
  }
  profile.steps = 2;
  profile.samples = samples;
  profile.validation_samples = samples / 2;
}

TEST(Profile, RowsAddUpToTheTotal) {
  Profile profile;
  fill(profile, 3, 64);
  const ProfileRow total = profile_total(profile, {.peak_flops = 1e9});
  double seconds = 0, share = 0, flops = 0;
  std::int64_t calls = 0;
  for (const ProfileRow& row : profile_rows(profile, {.peak_flops = 1e9})) {
    seconds += row.seconds;
    share += row.share;
    flops += row.flops;
    calls += row.calls;
    EXPECT_GT(row.seconds, 0) << row.section.name;
  }
  EXPECT_DOUBLE_EQ(total.seconds, seconds);
  EXPECT_NEAR(total.seconds, profile.seconds(), 1e-12);
  EXPECT_NEAR(share, 1, 1e-12);
  EXPECT_NEAR(total.share, 1, 1e-12);
  EXPECT_EQ(total.calls, calls);
  EXPECT_EQ(total.calls, profile.spans());
  EXPECT_EQ(total.calls, 3 * (kFixedSections + 4));
  EXPECT_DOUBLE_EQ(total.flops, flops);
}

TEST(Profile, RowsStandInTheOrderOfAStep) {
  Profile profile;
  fill(profile, 1, 64);
  std::vector<std::string> names;
  for (const ProfileRow& row : profile_rows(profile))
    names.push_back(row.section.name == row.section.phase ? row.section.name
                                                          : row.section.name + " " + row.section.phase);
  const std::vector<std::string> expected = {
      "load",       "0 linear forward", "1 relu forward", "loss",     "1 relu backward", "0 linear backward",
      "gather",     "bubble",           "reduce",         "exchange", "update",          "wait",
      "validation", "shuffle",          "report"};
  EXPECT_EQ(names, expected);
}

TEST(Profile, RatesAreThoseOfTheTeam) {
  Profile profile;
  fill(profile, 2, 64);
  const SectionSum sum = profile.sum(kFixedSections);
  EXPECT_EQ(sum.flops, 2 * 1000.0 * int{kFixedSections});
  for (const ProfileRow& row : profile_rows(profile, {.peak_flops = 5e9})) {
    if (row.section.name != "0 linear" || row.section.phase != "forward") continue;
    // Two threads are in the section for half of its thread time.
    EXPECT_DOUBLE_EQ(row.flops_per_second, sum.flops / (double(sum.ns) * 1e-9 / 2));
    ASSERT_TRUE(row.peak_share);
    EXPECT_DOUBLE_EQ(*row.peak_share, row.flops_per_second / 5e9);
  }
}

TEST(Profile, WithoutWorkThereIsNoShareOfThePeak) {
  Profile profile;
  fill(profile, 1, 64);
  for (const ProfileRow& row : profile_rows(profile, {.peak_flops = 1e9}))
    EXPECT_EQ(row.peak_share.has_value(), row.flops > 0);
  for (const ProfileRow& row : profile_rows(profile)) EXPECT_FALSE(row.peak_share);
}

TEST(Profile, ARunIsAsFastAsItself) {
  Profile profile;
  fill(profile, 1, 64);
  for (const ProfileRow& row : profile_rows(profile, {.baseline = &profile})) {
    const bool meaningless = row.section.name == "wait" || row.section.name == "shuffle" ||
                             row.section.name == "report" || row.section.name == "exchange" ||
                             row.section.name == "bubble" || row.section.name == "gather";
    ASSERT_EQ(row.speedup.has_value(), !meaningless) << row.section.name;
    EXPECT_DOUBLE_EQ(row.speedup.value_or(1), 1);
  }
  EXPECT_DOUBLE_EQ(*profile_total(profile, {.baseline = &profile}).speedup, 1);
}

TEST(Profile, SpeedupsCompareTimePerSample) {
  Profile before, after;
  fill(before, 1, 64);
  fill(after, 2, 256);
  for (const ProfileRow& row : profile_rows(after, {.baseline = &before})) {
    if (row.section.name != "load") continue;
    const double then = double(before.sum(kLoadSection).ns) / 64, now = double(after.sum(kLoadSection).ns) / 2 / 256;
    EXPECT_NEAR(*row.speedup, then / now, 1e-9);
  }
  EXPECT_TRUE(profile_total(after, {.baseline = &before}).speedup);
}

TEST(Profile, SectionsNeverEnteredAreLeftOut) {
  Profile profile;
  profile.begin(section_names({"0 linear"}), 1);
  profile.recorder(0).close(kLoadSection);
  ASSERT_EQ(profile_rows(profile).size(), 1U);
  EXPECT_EQ(profile_rows(profile)[0].section.name, "load");
}

TEST(Profile, AnEmptyProfileHasNoRows) {
  const Profile profile;
  EXPECT_TRUE(profile_rows(profile).empty());
  EXPECT_EQ(profile_total(profile).calls, 0);
}

TEST(Profile, TheCapHoldsForAllThreadsTogether) {
  Profile profile(10);
  profile.begin(section_names({}), 4);
  for (int thread = 0; thread < 4; ++thread)
    for (int i = 0; i < 5; ++i) profile.recorder(thread).close(kLoadSection);
  EXPECT_EQ(profile.spans(), 20);
  EXPECT_EQ(profile.dropped(), 12);  // two held by each
}

TEST(Profile, BeginForgets) {
  Profile profile;
  fill(profile, 2, 64);
  profile.begin(section_names({}), 1);
  EXPECT_EQ(profile.threads(), 1);
  EXPECT_EQ(profile.spans(), 0);
  EXPECT_EQ(profile.samples, 0);
}

TEST(Profile, ASpanCostsSomething) { EXPECT_GT(span_cost_ns(), 0); }

}  // namespace
}  // namespace lockstep
