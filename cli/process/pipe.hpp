#pragma once
// A pipe to or from another program.

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::cli {

/// How long to wait for the end of the streams of a program that has ended: somebody who left its group may keep one
/// open for ever.
inline constexpr std::chrono::seconds kLastWords{1};

/// Both ends, closed when they are no longer needed: 0 is read from, 1 is written to.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int operator[](std::size_t end) const { return ends_[end]; }
  /// Somebody may still write.
  bool open() const { return ends_[0] >= 0; }
  void close(std::size_t end);
  /// Adds what has arrived, up to 64 MiB in all; closes at the end of the stream.
  void read_into(std::string& text);

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Waits a moment for one of two pipes to have something, and reads it. A pipe at its end is no longer waited for.
void read_ready(Pipe& one, std::string& text_of_one, Pipe& other, std::string& text_of_other);

/// The last line of what a program said, without our own name before it; empty where it said nothing.
std::string last_line(std::string_view text);

}  // namespace lockstep::cli
