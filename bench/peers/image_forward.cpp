// image_forward THREADS [BACKEND]: one picture of 1280x720 and 128 kernels of 11x11, forward, as a contender of run.py.
// Says `{"ready": ...}`, then answers each line of standard input by one line of JSON: `run` with the seconds of one
// forward pass, `outputs` with some of the results. The members of the team share the output channels.

#include <cstdio>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/reproduce/conv_image.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/kernels/backend.hpp"

namespace {

using namespace lockstep;

constexpr std::int64_t kProbeStep = 1000003;  // workloads.py, Image.probe_step

Backend backend_of(const std::string& name) {
  const auto& names = backend_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Backend>(i);
  throw Error(ErrorCode::usage, fmt::format("no backend {}; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int threads = argc > 1 ? std::stoi(argv[1]) : 1;
    cli::ConvImage image(backend_of(argc > 2 ? argv[2] : "simd"), cli::conv_picture(""));
    image.run(threads);  // memory is touched, scratch is made
    fmt::print("{{\"ready\": \"lockstep {}\"}}\n", version());
    std::fflush(stdout);
    for (std::string command; std::getline(std::cin, command);) {
      if (command == "run")
        fmt::print("{{\"seconds\": {}}}\n", image.run(threads));
      else
        fmt::print("{{\"outputs\": [{}]}}\n", fmt::join(image.outputs(kProbeStep), ", "));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_forward: %s\n", error.what());
    return 2;
  }
}
