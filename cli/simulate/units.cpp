#include "cli/simulate/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

struct Unit {
  const char* name;
  double factor;
};

constexpr Unit kBandwidths[] = {{"", 1},           {"B/s", 1},        {"kB/s", 1e3},   {"MB/s", 1e6},
                                {"GB/s", 1e9},     {"bit/s", 0.125},  {"kbit/s", 125}, {"Mbit/s", 125e3},
                                {"Gbit/s", 125e6}, {"Tbit/s", 125e9}, {"TB/s", 1e12}};
constexpr Unit kTimes[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

double parse_unit(const std::string& text, const char* option, std::span<const Unit> units, const char* example) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string name = end;
  name.erase(0, std::min(name.size(), name.find_first_not_of(' ')));
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return name == unit.name; });
  if (end == text.c_str() || found == units.end() || !std::isfinite(number * found->factor) || number < 0)
    throw Error(ErrorCode::usage,
                fmt::format("{} {}: must be a number with a unit, such as {}", option, text, example));
  return number * found->factor;
}

}  // namespace

double parse_bandwidth(const std::string& text) {
  const double bandwidth = parse_unit(text, "--bandwidth", kBandwidths, "100Gbit/s or 12.5GB/s");
  if (bandwidth <= 0) throw Error(ErrorCode::usage, fmt::format("--bandwidth {}: must be more than nothing", text));
  return bandwidth;
}

double parse_latency(const std::string& text) { return parse_unit(text, "--latency", kTimes, "1us or 500ns"); }

std::vector<int> parse_nodes(const std::string& text, int most) {
  const auto fail = [&](const char* why) {
    throw Error(ErrorCode::usage,
                fmt::format("--nodes {}: {}; write 1,2,4,...,64 with numbers from 1 to {}", text, why, most));
  };
  std::vector<int> nodes;
  bool dots = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    at = comma + 1;
    if (word == "...") {
      if (dots || nodes.size() < 2) fail("dots need two numbers before and one behind them");
      dots = true;
      continue;
    }
    char* end = nullptr;
    const long number = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || number < 1 || number > most) fail("a number is none, or out of range");
    if (!nodes.empty() && number <= nodes.back()) fail("numbers must grow");
    if (dots) {
      const int before = nodes[nodes.size() - 2], last = nodes.back();
      const bool geometric = last % before == 0;
      for (long next = geometric ? long{last} * (last / before) : 2L * last - before; next < number;
           next = geometric ? next * (last / before) : next + last - before)
        nodes.push_back(static_cast<int>(next));
      dots = false;
    }
    nodes.push_back(static_cast<int>(number));
  }
  if (dots) fail("a number must follow the dots");
  return nodes;
}

std::string nodes_text(int nodes) { return count_of(nodes, "node"); }

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace lockstep::cli
