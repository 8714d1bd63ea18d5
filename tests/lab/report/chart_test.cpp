// Axes, labels, and drawings of data that nobody would want to draw.

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include <gtest/gtest.h>

#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/html_parts.hpp"
#include "lockstep/lab/report/label_place.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {
namespace {

using Doubles = std::vector<double>;
using Strings = std::vector<std::string>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_near(const Doubles& actual, const Doubles& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9 * std::abs(expected[i]));
}

TEST(ReportTicks, LinearStepsAreOneTwoFive) {
  expect_near(linear_ticks(0, 10, 5), {0, 2, 4, 6, 8, 10});
  expect_near(linear_ticks(0, 0.7, 4), {0, 0.2, 0.4, 0.6});
  expect_near(linear_ticks(-1.2, 1.1, 5), {-1, -0.5, 0, 0.5, 1});
  EXPECT_TRUE(linear_ticks(1, 1, 5).empty());
  EXPECT_TRUE(linear_ticks(0, kInf, 5).empty());
}

TEST(Ticks, NoTwoHaveTheSameText) {
  // Five epochs in steps of a half; accuracies in steps of half a percent.
  const Axis epochs{.format = integer()}, shares{.format = percent(0)};
  const auto whole = axis_ticks(epochs, make_axis(epochs, std::vector<double>{1, 5}, false, 9), 9);
  expect_near(whole, {1, 2, 3, 4, 5});
  const auto parts = axis_ticks(shares, make_axis(shares, std::vector<double>{0.955, 0.975}, false, 5), 5);
  const auto texts = tick_texts(shares, parts);
  EXPECT_EQ(texts, (std::vector<std::string>{"95.5 %", "96.0 %", "96.5 %", "97.0 %", "97.5 %"}));
}

TEST(ReportTicks, LogarithmicOnesAreDecades) {
  expect_near(log_ticks(0.9, 1.2e5, 6), {1, 10, 100, 1000, 1e4, 1e5});
  expect_near(log_ticks(1, 1e12, 5), {1, 1e3, 1e6, 1e9, 1e12});
  expect_near(log_ticks(1, 12, 9), {1, 2, 5, 10});
  expect_near(log_ticks(3, 4, 5), {3, 3.2, 3.4, 3.6, 3.8, 4});
  EXPECT_TRUE(log_ticks(0, 10, 5).empty());
}

TEST(ReportTicks, Texts) {
  EXPECT_EQ(tick_texts({}, Doubles{0, 0.5, 1}), (Strings{"0.0", "0.5", "1.0"}));
  EXPECT_EQ(tick_texts({.scale = Scale::log}, Doubles{1e-5, 0.1, 1, 1e6}), (Strings{"10⁻⁵", "0.1", "1", "10⁶"}));
  EXPECT_EQ(tick_texts({.format = percent(0)}, Doubles{0.5, 1}), (Strings{"50 %", "100 %"}));
  EXPECT_EQ(tick_texts({.format = ratio()}, Doubles{0.5, 1, 20}), (Strings{"0.5×", "1×", "20×"}));
  EXPECT_EQ(tick_texts({.format = seconds()}, Doubles{0, 0.0015, 10}), (Strings{"0 s", "1.5 ms", "10 s"}));
  EXPECT_EQ(tick_texts({.format = scientific(1)}, Doubles{2e-9}), (Strings{"2.0e-09"}));
  EXPECT_EQ(axis_title({.title = "Time", .unit = "s"}), "Time (s)");
}

TEST(ReportTicks, AxesHoldWhatTheyCanShow) {
  const AxisMap linear = make_axis({}, Doubles{3, kNaN, 97, -kInf}, false, 5);
  EXPECT_EQ(linear.low, 0);
  EXPECT_EQ(linear.high, 100);
  const AxisMap logarithmic = make_axis({.scale = Scale::log}, Doubles{-1, 0, 2, 8}, false, 5);
  EXPECT_GT(logarithmic.low, 1);
  EXPECT_LT(logarithmic.low, 2);
  EXPECT_FALSE(logarithmic.shows(0));
  for (const Doubles& values :
       {Doubles{}, Doubles{0}, Doubles{5}, Doubles{-5}, Doubles{1e308, -1e308}, Doubles{5e-324}})
    for (const Scale scale : {Scale::linear, Scale::log}) {
      const AxisMap map = make_axis({.scale = scale}, values, true, 5);
      EXPECT_LT(map.low, map.high);
      EXPECT_TRUE(std::isfinite(map.share(map.low)) && std::isfinite(map.share(map.high)));
    }
  EXPECT_EQ(make_axis({.low = 10, .high = 0}, Doubles{1, 2}, false, 5).low, 1) << "an axis that runs backwards is not";
}

TEST(ReportLabels, SpreadKeepsOrderAndDistance) {
  EXPECT_EQ(spread({10, 50}, 15, 0, 100), (Doubles{10, 50}));
  expect_near(spread({50, 50, 50}, 10, 0, 100), {40, 50, 60});
  expect_near(spread({99, 100}, 10, 0, 100), {90, 100});
  expect_near(spread({0, 1, 90}, 10, 0, 100), {0, 10, 90});
  expect_near(spread({60, 10, 61}, 10, 0, 100), {55.5, 10, 65.5});
  EXPECT_TRUE(spread({}, 10, 0, 100).empty());
}

TEST(ReportLabels, NoTwoOverlap) {
  const Box bounds{0, 0, 400, 300};
  LabelPlace labels(bounds);
  std::vector<Box> boxes;
  for (int i = 0; i < 20; ++i)
    if (const auto place = labels.place(200 + i, 150, "conv2d forward"))
      boxes.push_back(text_box(place->x, place->y, "conv2d forward"));
  EXPECT_GT(boxes.size(), 12U);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    EXPECT_TRUE(boxes[a].inside(bounds));
    for (std::size_t b = a + 1; b < boxes.size(); ++b) EXPECT_FALSE(boxes[a].overlaps(boxes[b])) << a << " and " << b;
  }
}

TEST(ReportLabels, TextsAreCutToFit) {
  EXPECT_EQ(fit_text("short", 12, 100), "short");
  const std::string cut = fit_text("a very long name of a layer", 12, 80);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_LE(text_width(cut, 12), 80);
  EXPECT_EQ(fit_text("üüüüüüüü", 12, 30), "ü…") << "not in the middle of a letter";
  EXPECT_EQ(fit_text("abc", 12, 0), "…");
}

/// Every number of every coordinate is one, and no drawing is larger than the page would like.
void expect_sound(const Chart& chart) {
  for (const bool small : {false, true}) {
    const std::string html = figure_html(chart, "f1", small);
    EXPECT_FALSE(std::regex_search(html, std::regex("(=\"|[ML ])-?(nan|inf)"))) << html;
    EXPECT_LT(html.size(), 200'000U);
    const std::regex number("(?: x| y| x1| x2| y1| y2| width)=\"(-?[0-9.]+)\"");
    for (std::sregex_iterator it(html.begin(), html.end(), number), end; it != end; ++it)
      EXPECT_LE(std::abs(std::stod((*it)[1])), 2000) << it->str();
  }
}

TEST(ReportCharts, SoundWhateverTheData) {
  const std::vector<Doubles> awkward = {{},
                                        {0},
                                        {5},
                                        {-3},
                                        {kNaN},
                                        {kInf, -kInf},
                                        {0, 0, 0},
                                        {1e308, -1e308, 1},
                                        {5e-324, 1e308},
                                        {1, kNaN, 2, kInf, 0, -1},
                                        {7, 7, 7}};
  for (const Doubles& values : awkward)
    for (const Scale scale : {Scale::linear, Scale::log}) {
      BarChart bars{.axis = {.scale = scale}},
          stack{.axis = {.scale = scale}, .series = {{"a"}, {"b"}}, .stacked = true};
      LineChart lines{.x = {.scale = scale}, .y = {.scale = scale}, .series = {{.name = "s"}, {.name = "empty"}}};
      ScatterChart points{.x = {.scale = scale},
                          .y = {.scale = scale},
                          .ceilings = {{.label = "none"}, {.label = "nan", .slope = kNaN}, {.level = -1}}};
      for (const double value : values) {
        bars.groups.push_back({.label = "g", .bars = {{value, Interval{value - 1, value + 1}}}});
        stack.groups.push_back({.label = "g", .bars = {{value}, {value}, {value}}});
        lines.series[0].points.push_back({value, value, Interval{value - 1, value + 1}});
        lines.series[0].band.push_back({value, value - 1, value * 2});
        points.points.push_back({.label = "p", .x = value, .y = value});
        points.ceilings.push_back({.label = "c", .level = value});
      }
      for (const Chart& chart : {Chart(bars), Chart(stack), Chart(lines), Chart(points)}) expect_sound(chart);
    }
}

TEST(ReportCharts, WhatIsNotDrawnIsSaid) {
  const LineChart chart{.y = {.scale = Scale::log},
                        .series = {{.name = "s", .points = {{1, 1}, {2, 0}, {3, -1}, {4, 2}}}}};
  EXPECT_NE(figure_html(chart, "f", false).find("2 points cannot be drawn on these axes."), std::string::npos);
  EXPECT_NE(figure_html(BarChart{}, "f", false).find("No data."), std::string::npos);
}

TEST(ReportCharts, ThousandsOfPointsAreThinned) {
  LineChart chart{.series = {{.name = "loss"}}};
  for (int i = 0; i < 50'000; ++i) chart.series[0].points.push_back({double(i), std::sin(i * 0.7)});
  chart.series[0].points[31'234].y = 9;  // a peak that must not get lost
  const std::string html = figure_html(chart, "f", false);
  EXPECT_LT(html.size(), 120'000U);
  chart.series[0].points[31'234].y = 0;
  EXPECT_NE(html, figure_html(chart, "f", false));
}

TEST(ReportBars, ALogarithmicAxisSaysSo) {
  BarChart bars{.axis = {.title = "times as fast", .scale = Scale::log}, .groups = {{.label = "a", .bars = {2.0}}}};
  EXPECT_NE(figure_html(bars, "f", false).find("times as fast, logarithmic axis"), std::string::npos);
  bars.axis.scale = Scale::linear;
  EXPECT_EQ(figure_html(bars, "f", false).find("logarithmic"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::report
