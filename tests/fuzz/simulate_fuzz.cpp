// Any text as what `lockstep simulate` reads besides its configuration: a file of rates (refused with one line, or the
// same again when it is written), and the values of --nodes, --bandwidth and --latency.

#include <cmath>
#include <cstdlib>
#include <string>

#include "cli/simulate/units.hpp"
#include "lockstep/simulate/rates.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace lockstep;

template <class Read>
void read_or_refuse_usage(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) std::abort();
  }
}

void check_rates(const std::string& text) {
  const std::string written = rates_json(parse_rates(text));
  const SectionRates rates = parse_rates(written);
  if (rates_json(rates) != written) std::abort();
  for (std::int32_t section = 0; section < static_cast<std::int32_t>(rates.sections.size()) + 2; ++section)
    for (const double work : {0.0, 1.0, 1e9})
      if (!(rates.seconds(section, work, work) >= 0)) std::abort();
}

void check_nodes(const std::string& text) {
  constexpr int kMost = 4096;
  int last = 0;
  for (const int nodes : cli::parse_nodes(text, kMost)) {
    if (nodes <= last || nodes > kMost) std::abort();
    last = nodes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_or_refuse_usage([&] { check_rates(text); });
  read_or_refuse_usage([&] { check_nodes(text); });
  read_or_refuse_usage([&] {
    if (const double value = cli::parse_bandwidth(text); !(value > 0 && std::isfinite(value))) std::abort();
  });
  read_or_refuse_usage([&] {
    if (const double value = cli::parse_latency(text); !(value >= 0 && std::isfinite(value))) std::abort();
  });
  return 0;
}
