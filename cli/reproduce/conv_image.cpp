#include "cli/reproduce/conv_image.hpp"

#include <chrono>

#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kTaps = kImageGeometry.kernel_h * kImageGeometry.kernel_w;
constexpr std::int64_t kPixels = kImageGeometry.out_height() * kImageGeometry.out_width();

/// Numbers in [-0.5, 0.5), which other programs can make as well: element `first` + i.
AlignedBuffer<float> scrambled(std::int64_t count, std::int64_t first = 0) {
  AlignedBuffer<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::uint64_t>(first + i) * 2654435761U);
    values[i] = static_cast<float>(bits >> 8) / 16777216.0F - 0.5F;
  }
  return values;
}

}  // namespace

ConvImage::ConvImage(Backend backend, std::int64_t first, std::int64_t count)
    : count_(count),
      kernels_(make_table<float>(backend)),
      x_(scrambled(kImageGeometry.in_height * kImageGeometry.in_width)),
      w_(scrambled(count * kTaps, first * kTaps)),
      y_(count * kPixels) {}

double ConvImage::run(int threads) {
  if (contexts_.size() < static_cast<std::size_t>(threads)) contexts_.resize(static_cast<std::size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  run_team(threads, [&](const Member& member) {
    const std::int64_t first = member.share(count_, member.index);
    Conv2dGeometry part = kImageGeometry;
    part.out_channels = member.share(count_, member.index + 1) - first;
    kernels_.conv2d_forward({.geometry = part,
                             .x = dense_matrix<const float>(x_.data(), x_.size(), 1),
                             .w = w_.data() + first * kTaps,
                             .y = dense_matrix(y_.data() + first * kPixels, part.out_channels * kPixels, 1)},
                            contexts_[static_cast<std::size_t>(member.index)]);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<float> ConvImage::outputs(std::int64_t step) const {
  std::vector<float> some;
  for (std::int64_t i = 0; i < y_.size(); i += step) some.push_back(y_[i]);
  return some;
}

}  // namespace lockstep::cli
