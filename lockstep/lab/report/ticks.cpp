#include "lockstep/lab/report/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace lockstep::report {

namespace {

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below the value.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

double step_of(double low, double high, int most) { return round_up((high - low) / std::max(1, most)); }

/// With superscript digits: "10⁶".
std::string power_of_ten(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent))) out += kDigits[c - '0'];
  return out;
}

bool is_power_of_ten(double value) {
  if (!(value > 0)) return false;
  const double exponent = std::log10(value);
  return std::abs(exponent - std::round(exponent)) < 1e-9;
}

int decimals_for(std::span<const double> ticks) {
  for (int decimals = 0; decimals < 12; ++decimals) {
    const double power = std::pow(10, decimals);
    if (std::all_of(ticks.begin(), ticks.end(), [&](double tick) {
          return std::abs(tick * power - std::round(tick * power)) < 1e-6 * std::max(1.0, std::abs(tick * power));
        }))
      return decimals;
  }
  return 12;
}

/// "2.00×" -> "2×", "1.50 ms" -> "1.5 ms"
std::string without_trailing_zeros(const std::string& text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  if (end < text.size() && text[end] == 'e') return text;
  std::size_t last = text.find_last_not_of('0', end - 1);
  if (last == point) --last;
  return text.substr(0, last + 1) + text.substr(end);
}

void widen_linear(AxisMap& map, const Axis& axis, int most_ticks) {
  constexpr double kSmallest = 1e-280;   // steps of less could not be told apart
  if (map.high - map.low < kSmallest) {  // one value: some room around it
    const double room = std::abs(map.low) < kSmallest ? 1 : std::abs(map.low) / 2;
    if (!axis.high) map.high = map.low + room;
    if (!axis.low) map.low -= room;
    if (map.high <= map.low) map.high = map.low + room;
  }
  const double step = step_of(map.low, map.high, most_ticks);
  if (!axis.low) map.low = std::floor(map.low / step + 1e-9) * step;
  if (!axis.high) map.high = std::ceil(map.high / step - 1e-9) * step;
}

void widen_log(AxisMap& map, const Axis& axis) {
  constexpr double kRoom = 1.15;
  if (map.high <= map.low) map.low /= 3, map.high *= 3;
  if (!axis.low || *axis.low <= 0) map.low /= kRoom;
  if (!axis.high || *axis.high <= 0) map.high *= kRoom;
}

}  // namespace

bool AxisMap::shows(double value) const { return std::isfinite(value) && (scale == Scale::linear || value > 0); }

double AxisMap::share(double value) const {
  const double part = scale == Scale::linear ? (value - low) / (high - low)
                                             : (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return std::clamp(part, -1.0, 2.0);
}

std::vector<double> linear_ticks(double low, double high, int most) {
  std::vector<double> out;
  if (!(high > low) || !std::isfinite(high - low)) return out;
  const double step = step_of(low, high, most);
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last && out.size() < 100; ++i) out.push_back(i == 0 ? 0 : i * step);
  return out;
}

std::vector<double> log_ticks(double low, double high, int most) {
  std::vector<double> out;
  if (!(low > 0) || !(high > low) || !std::isfinite(high)) return out;
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const int decades = last - first + 1;
  if (3 * decades <= most || decades <= 2) {
    for (int exponent = first - 1; exponent <= last; ++exponent)
      for (const double factor : {1.0, 2.0, 5.0})
        if (const double tick = factor * std::pow(10, exponent); tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9))
          out.push_back(tick);
    // Less than the way from 2 to 5: no better than a linear axis.
    return out.size() >= 2 ? out : linear_ticks(low, high, most);
  }
  const int every = std::max(1, (decades + std::max(1, most) - 1) / std::max(1, most));
  for (int exponent = first; exponent <= last; exponent += every) out.push_back(std::pow(10, exponent));
  return out;
}

AxisMap make_axis(const Axis& axis, std::span<const double> values, bool from_zero, int most_ticks) {
  AxisMap map{.scale = axis.scale};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (map.shows(value)) low = std::min(low, value), high = std::max(high, value);
  if (low > high) low = high = axis.scale == Scale::log ? 1 : 0;
  if (from_zero && axis.scale == Scale::linear) low = std::min(low, 0.0), high = std::max(high, 0.0);
  // Drawings of values near the largest double would overflow.
  constexpr double kLargest = 1e300;
  map.low = std::clamp(low, -kLargest, kLargest), map.high = std::clamp(high, -kLargest, kLargest);
  if (axis.scale == Scale::log) map.low = std::max(map.low, 1e-300), map.high = std::max(map.high, 1e-300);
  if (axis.low && map.shows(*axis.low) && *axis.low < map.high) map.low = *axis.low;
  if (axis.high && map.shows(*axis.high) && *axis.high > map.low) map.high = *axis.high;
  if (axis.scale == Scale::linear)
    widen_linear(map, axis, most_ticks);
  else
    widen_log(map, axis);
  return map;
}

std::vector<double> axis_ticks(const Axis& axis, const AxisMap& map, int most) {
  std::vector<double> out;
  if (axis.ticks.empty()) {
    out = map.scale == Scale::linear ? linear_ticks(map.low, map.high, most) : log_ticks(map.low, map.high, most);
    // Half an epoch would be written as a whole one.
    if (axis.format.style == Style::integer)
      std::erase_if(out, [](double tick) { return std::abs(tick - std::round(tick)) > 1e-9; });
    return out;
  }
  for (const double tick : axis.ticks)
    if (map.shows(tick) && map.share(tick) >= -1e-9 && map.share(tick) <= 1 + 1e-9) out.push_back(tick);
  return out;
}

std::vector<std::string> tick_texts(const Axis& axis, std::span<const double> ticks) {
  std::vector<std::string> out;
  const bool logarithmic = axis.scale == Scale::log;
  const Style style = axis.format.style;  // the digits of values are too many, or too few, for ticks
  const bool plain = style == Style::automatic || style == Style::fixed || style == Style::significant;
  const int decimals = decimals_for(ticks);
  std::vector<double> hundredfold(ticks.begin(), ticks.end());
  for (double& tick : hundredfold) tick *= 100;
  const int percent_decimals = std::min(decimals_for(hundredfold), 6);
  for (const double tick : ticks) {
    if (style == Style::percent)
      out.push_back(format_number(tick, percent(percent_decimals)));
    else if (!plain)
      out.push_back(without_trailing_zeros(format_number(tick, axis.format)));
    else if (logarithmic && is_power_of_ten(tick) && (tick > 9.9e4 || tick < 1.1e-4))
      out.push_back(power_of_ten(static_cast<int>(std::lround(std::log10(tick)))));
    else if (logarithmic || std::abs(tick) >= 1e7 || decimals > 6)
      out.push_back(format_number(tick, Format{}));
    else
      out.push_back(format_number(tick, fixed(decimals)));
  }
  return out;
}

std::string axis_title(const Axis& axis) {
  if (axis.unit.empty()) return axis.title;
  return axis.title.empty() ? axis.unit : fmt::format("{} ({})", axis.title, axis.unit);
}

}  // namespace lockstep::report
