#include "cli/process/captured.hpp"

#include <csignal>
#include <cstdint>

#include <fmt/format.h>

namespace lockstep::cli {

std::string Captured::reason() const {
  if (stopped) return "stopped by a signal";
  if (timed_out) return "it did not end in time and was stopped";
  if (code == 127) return "it cannot be started";
  const std::string last = last_line(err);
  return last.empty() ? fmt::format("it ended with {}", code) : last;
}

Captured run_captured(const std::vector<std::string>& words, const CaptureOptions& options) {
  Pipe out, err;
  const pid_t child = start_process(words, options.environment, {.out = out[1], .err = err[1]});
  out.close(1);
  err.close(1);
  Captured result;
  const auto limit = Clock::now() + options.patience;
  std::optional<int> code;
  while (!(code = ended(child))) {
    result.stopped = options.stopped && options.stopped();
    result.timed_out = !result.stopped && Clock::now() > limit;
    if (result.stopped || result.timed_out) break;
    read_ready(out, result.out, err, result.err);
  }
  if (code)
    ::kill(-child, SIGKILL);  // what it left behind
  else
    code = end_group(child);
  result.code = *code;
  for (const auto end = Clock::now() + kLastWords; (out.open() || err.open()) && Clock::now() < end;)
    read_ready(out, result.out, err, result.err);
  return result;
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

}  // namespace lockstep::cli
