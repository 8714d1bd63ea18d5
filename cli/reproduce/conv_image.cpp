#include "cli/reproduce/conv_image.hpp"

#include <algorithm>
#include <span>

#include "lockstep/data/formats/png.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kTaps = kImageGeometry.kernel_h * kImageGeometry.kernel_w;
constexpr std::int64_t kPixels = kImageGeometry.out_height() * kImageGeometry.out_width();

/// Numbers in [-0.5, 0.5), which other programs can make as well: elements `first` and following.
void scramble(std::span<float> values, std::int64_t first = 0) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>((static_cast<std::uint64_t>(first) + i) * 2654435761U);
    values[i] = static_cast<float>(bits >> 8) / 16777216.0F - 0.5F;
  }
}

/// Rows first, then columns, as resize_images does it; this one is not square.
std::vector<float> resized(const std::uint8_t* bytes, std::int64_t height, std::int64_t width) {
  const auto rows = resize_taps(height, kImageGeometry.in_height, ResizeMethod::bicubic);
  const auto columns = resize_taps(width, kImageGeometry.in_width, ResizeMethod::bicubic);
  std::vector<float> out;
  std::vector<double> row(static_cast<std::size_t>(width));
  for (const ResizeTaps& vertical : rows) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t t = 0; t < vertical.index.size(); ++t)
      for (std::size_t x = 0; x < row.size(); ++x)
        row[x] += vertical.weight[t] * bytes[vertical.index[t] * width + static_cast<std::int64_t>(x)];
    for (const ResizeTaps& horizontal : columns) {
      double sum = 0;
      for (std::size_t t = 0; t < horizontal.index.size(); ++t)
        sum += horizontal.weight[t] * row[static_cast<std::size_t>(horizontal.index[t])];
      out.push_back(static_cast<float>(std::clamp(sum / 255 - 0.5, -0.5, 0.5)));
    }
  }
  return out;
}

}  // namespace

ConvPicture conv_picture(const std::string& path) {
  if (path.empty()) {
    ConvPicture picture{.pixels = std::vector<float>(kImageGeometry.in_height * kImageGeometry.in_width)};
    scramble(picture.pixels);
    return picture;
  }
  const Array image = read_png(path, ImageColour::grey);
  const std::int64_t height = image.dims[1], width = image.dims[2];
  return {.pixels = resized(reinterpret_cast<const std::uint8_t*>(image.bytes.data()), height, width),
          .height = height,
          .width = width};
}

ConvImage::ConvImage(Backend backend, const ConvPicture& picture, std::int64_t first, std::int64_t count)
    : count_(count),
      kernels_(make_table<float>(backend)),
      x_(static_cast<std::int64_t>(picture.pixels.size())),
      w_(count * kTaps),
      y_(count * kPixels) {
  scramble({w_.data(), static_cast<std::size_t>(w_.size())}, first * kTaps);
  std::copy(picture.pixels.begin(), picture.pixels.end(), x_.data());
}

double ConvImage::run(int threads) {
  if (contexts_.size() < static_cast<std::size_t>(threads)) contexts_.resize(static_cast<std::size_t>(threads));
  const auto work = [&](const Member& member) {
    const std::int64_t first = member.share(count_, member.index);
    Conv2dGeometry part = kImageGeometry;
    part.out_channels = member.share(count_, member.index + 1) - first;
    kernels_.conv2d_forward({.geometry = part,
                             .x = dense_matrix<const float>(x_.data(), x_.size(), 1),
                             .w = w_.data() + first * kTaps,
                             .y = dense_matrix(y_.data() + first * kPixels, part.out_channels * kPixels, 1)},
                            contexts_[static_cast<std::size_t>(member.index)]);
  };
  return timed_seconds([&] { run_team(threads, work); });
}

std::vector<float> ConvImage::outputs(std::int64_t step) const {
  std::vector<float> some;
  for (std::int64_t i = 0; i < y_.size(); i += step) some.push_back(y_[i]);
  return some;
}

}  // namespace lockstep::cli
