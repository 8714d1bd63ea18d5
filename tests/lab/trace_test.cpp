#include "lockstep/lab/trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using nlohmann::json;

Profile two_threads(const std::string& layer) {
  Profile profile(8);
  profile.begin(section_names({layer}), 2);
  for (int thread = 0; thread < 2; ++thread)
    for (int i = 0; i < 3 + 4 * thread; ++i) profile.recorder(thread).close(forward_section(0), 2e6, 1e3);
  profile.recorder(0).close(kWaitSection);
  return profile;
}

TEST(Trace, IsValidJsonWithOneTrackPerThread) {
  const json trace = json::parse(chrome_trace(two_threads("0 conv2d")));
  std::vector<int> spans(2, 0), names(2, 0);
  for (const json& event : trace.at("traceEvents")) {
    EXPECT_EQ(event.at("pid"), 0);
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name") ++names.at(event.at("tid"));
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    ++spans.at(event.at("tid"));
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_TRUE(event.at("name") == "0 conv2d forward" || event.at("name") == "wait") << event;
    EXPECT_EQ(event.value("args", json{{"flops", 2e6}}).at("flops"), 2e6);
  }
  EXPECT_EQ(names, (std::vector{1, 1}));
  EXPECT_EQ(spans, (std::vector{4, 4}));
  EXPECT_EQ(trace.at("otherData").at("spans"), 11);
  EXPECT_EQ(trace.at("otherData").at("dropped_spans"), 3);
}

TEST(Trace, SpansOfATrackDoNotOverlap) {
  const json trace = json::parse(chrome_trace(two_threads("0 conv2d")));
  std::vector<double> end(2, 0);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    double& last = end.at(event.at("tid"));
    EXPECT_GE(event.at("ts").get<double>() + 1e-9, last);
    last = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
}

TEST(Trace, NamesAreEscaped) {
  const std::string nasty = "a\"b\\c\n</script>\x01\xff \xc3\xa9";
  const std::string text = chrome_trace(two_threads(nasty));
  const json trace = json::parse(text);
  std::string name;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") == "forward") name = event.at("name");
  EXPECT_EQ(name, "a\"b\\c\n</script>\x01\xef\xbf\xbd \xc3\xa9 forward");
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << int(c);
}

TEST(Trace, AnEmptyProfileIsAnEmptyTrace) {
  const json trace = json::parse(chrome_trace(Profile{}));
  EXPECT_EQ(trace.at("traceEvents").size(), 1U);  // the name of the process
}

}  // namespace
}  // namespace lockstep
