// image_forward THREADS [BACKEND]: one picture of 1280x720 and 128 kernels of 11x11, forward, as a contender of run.py.
// Says `{"ready": ...}`, then answers each line of standard input by one line of JSON: `run` with the seconds of one
// forward pass, `outputs` with some of the results. The members of the team share the output channels.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/lockstep.hpp"
#include "lockstep/parallel/team.hpp"

namespace {

using namespace lockstep;

constexpr Conv2dGeometry kGeometry{
    .in_height = 720, .in_width = 1280, .out_channels = 128, .kernel_h = 11, .kernel_w = 11};
constexpr std::int64_t kTaps = kGeometry.kernel_h * kGeometry.kernel_w;
constexpr std::int64_t kPixels = kGeometry.out_height() * kGeometry.out_width();
constexpr std::int64_t kProbeStep = 1000003;  // workloads.py, Image.probe_step

/// workloads.py, scrambled: numbers in [-0.5, 0.5).
AlignedBuffer<float> scrambled(std::int64_t count) {
  AlignedBuffer<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 2654435761U);
    values[i] = static_cast<float>(bits >> 8) / 16777216.0F - 0.5F;
  }
  return values;
}

class ImageForward {
 public:
  ImageForward(int threads, Backend backend)
      : threads_(threads),
        kernels_(make_table<float>(backend)),
        contexts_(static_cast<std::size_t>(threads)),
        x_(scrambled(kGeometry.in_height * kGeometry.in_width)),
        w_(scrambled(kGeometry.out_channels * kTaps)),
        y_(kGeometry.out_channels * kPixels) {}

  double run() {
    const auto start = std::chrono::steady_clock::now();
    run_team(threads_, [&](const Member& member) {
      const std::int64_t first = member.share(kGeometry.out_channels, member.index);
      const std::int64_t count = member.share(kGeometry.out_channels, member.index + 1) - first;
      Conv2dGeometry part = kGeometry;
      part.out_channels = count;
      kernels_.conv2d_forward({.geometry = part,
                               .x = dense_matrix<const float>(x_.data(), x_.size(), 1),
                               .w = w_.data() + first * kTaps,
                               .y = dense_matrix(y_.data() + first * kPixels, count * kPixels, 1)},
                              contexts_[static_cast<std::size_t>(member.index)]);
    });
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<float> outputs() const {
    std::vector<float> some;
    for (std::int64_t i = 0; i < y_.size(); i += kProbeStep) some.push_back(y_[i]);
    return some;
  }

 private:
  int threads_;
  KernelTable<float> kernels_;
  std::vector<KernelContext> contexts_;
  AlignedBuffer<float> x_, w_, y_;
};

Backend backend_of(const std::string& name) {
  const auto& names = backend_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Backend>(i);
  throw Error(ExitCode::usage, fmt::format("no backend {}; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int threads = argc > 1 ? std::stoi(argv[1]) : 1;
    ImageForward image(threads, backend_of(argc > 2 ? argv[2] : "simd"));
    image.run();  // memory is touched, scratch is made
    fmt::print("{{\"ready\": \"lockstep {}\"}}\n", version());
    std::fflush(stdout);
    for (std::string command; std::getline(std::cin, command);) {
      if (command == "run")
        fmt::print("{{\"seconds\": {}}}\n", image.run());
      else
        fmt::print("{{\"outputs\": [{}]}}\n", fmt::join(image.outputs(), ", "));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_forward: %s\n", error.what());
    return 2;
  }
}
