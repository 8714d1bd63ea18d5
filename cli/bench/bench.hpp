#pragma once
// lockstep bench [NAME]: the machine, then every kernel of the example networks under every backend. Each is checked
// against naive before it is measured.

#include <string>
#include <vector>

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

struct BenchArguments {
  std::string name{};                   // what to measure: a network, a kernel, "machine"; empty: everything
  std::vector<std::string> backends{};  // empty: all of the host that this machine can run
  int threads = 0;                      // of the machine's second column; 0: as many as this process may use
  bool quick = false;                   // shorter measurements, wider intervals
};

RunCommand bench_command(Options& options);

}  // namespace lockstep::cli
