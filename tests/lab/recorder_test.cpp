#include "lockstep/lab/recorder.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Clock = Recorder::Clock;

void pass_time() {
  const auto end = Clock::now() + std::chrono::microseconds(50);
  while (Clock::now() < end) {
  }
}

TEST(Recorder, SumsWorkAndCallsBySection) {
  Recorder recorder(3, 10, Clock::now());
  recorder.close(1, 100, 7);
  recorder.close(2);
  recorder.close(1, 50, 1);
  EXPECT_EQ(recorder.sums()[0].calls, 0);
  EXPECT_EQ(recorder.sums()[1].calls, 2);
  EXPECT_EQ(recorder.sums()[1].flops, 150);
  EXPECT_EQ(recorder.sums()[1].bytes, 8);
  EXPECT_EQ(recorder.sums()[2].calls, 1);
  EXPECT_EQ(recorder.count(), 3);
}

TEST(Recorder, SpansFollowEachOtherWithoutAGap) {
  Recorder recorder(2, 100, Clock::now());
  for (int i = 0; i < 20; ++i) {
    pass_time();
    recorder.close(i % 2);
  }
  const std::vector<Span> spans = recorder.spans();
  ASSERT_EQ(spans.size(), 20U);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].section, static_cast<std::int32_t>(i % 2));
    EXPECT_GT(spans[i].end_ns, spans[i].start_ns);
    EXPECT_EQ(spans[i].start_ns, i == 0 ? spans[0].start_ns : spans[i - 1].end_ns);
    sum += spans[i].end_ns - spans[i].start_ns;
  }
  EXPECT_EQ(sum, recorder.total_ns());
  EXPECT_EQ(recorder.total_ns(), spans.back().end_ns - spans.front().start_ns);
}

TEST(Recorder, APauseBelongsToNobody) {
  Recorder recorder(1, 10, Clock::now());
  recorder.close(0);
  pass_time();
  recorder.start();
  recorder.close(0);
  const std::vector<Span> spans = recorder.spans();
  EXPECT_GE(spans[1].start_ns - spans[0].end_ns, 50'000);
}

TEST(Recorder, TheRingKeepsTheLastSpansAndAllSums) {
  Recorder recorder(1, 4, Clock::now());
  for (int i = 0; i < 3; ++i) recorder.close(0, i);
  EXPECT_EQ(recorder.spans().size(), 3U);
  EXPECT_EQ(recorder.dropped(), 0);
  for (int i = 3; i < 11; ++i) recorder.close(0, i);
  const std::vector<Span> spans = recorder.spans();
  ASSERT_EQ(spans.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(spans[i].flops, double(7 + i));
  EXPECT_EQ(recorder.dropped(), 7);
  EXPECT_EQ(recorder.count(), 11);
  EXPECT_EQ(recorder.sums()[0].calls, 11);
}

TEST(Recorder, NothingIsHeldWithoutRoom) {
  Recorder recorder(1, 0, Clock::now());
  recorder.close(0);
  EXPECT_TRUE(recorder.spans().empty());
  EXPECT_EQ(recorder.dropped(), 1);
  EXPECT_EQ(recorder.sums()[0].calls, 1);
}

TEST(Recorder, SectionsOfLayersFollowTheFixedOnes) {
  const std::vector<SectionName> names = section_names({"0 conv2d", "1 relu"});
  ASSERT_EQ(names.size(), std::size_t{kFixedSections} + 4);
  EXPECT_EQ(names[kLoadSection].name, "load");
  EXPECT_EQ(names[kWaitSection].name, "wait");
  EXPECT_EQ(names[kReportSection].name, "report");
  const auto at = [&](std::int32_t section) { return names[static_cast<std::size_t>(section)]; };
  EXPECT_EQ(at(forward_section(0)).name, "0 conv2d");
  EXPECT_EQ(at(forward_section(1)).name, "1 relu");
  EXPECT_EQ(at(forward_section(1)).phase, "forward");
  EXPECT_EQ(at(backward_section(1)).name, "1 relu");
  EXPECT_EQ(at(backward_section(1)).phase, "backward");
}

}  // namespace
}  // namespace lockstep
