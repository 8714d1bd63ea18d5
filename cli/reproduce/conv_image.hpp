#pragma once
// One picture of 1280x720 and kernels of 11x11, forward: S[i,j] = sum over a, b of I[i+a, j+b] K[a,b] for every kernel,
// where all of it lies within the picture. The members of a team share the kernels.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/backend.hpp"

namespace lockstep::cli {

inline constexpr Conv2dGeometry kImageGeometry{
    .in_height = 720, .in_width = 1280, .out_channels = 128, .kernel_h = 11, .kernel_w = 11};
/// Multiplications and additions of the whole.
inline constexpr double kImageFlops = 2.0 * 128 * 121 * (720 - 10) * (1280 - 10);

/// The picture that is convolved: 720 rows of 1280 numbers in [-0.5, 0.5].
struct ConvPicture {
  std::vector<float> pixels{};
  std::int64_t height = 0, width = 0;  // of the file, before it was resized; 0: there was none
};

/// A PNG of any size, turned grey and resized (bicubic) to 1280x720, black -0.5, white 0.5; without a path, numbers
/// that other programs can make as well. Error(data) for a file that is no PNG.
ConvPicture conv_picture(const std::string& path);

class ConvImage {
 public:
  /// Computes `count` of the 128 kernels, from `first` on.
  explicit ConvImage(Backend backend, const ConvPicture& picture, std::int64_t first = 0,
                     std::int64_t count = kImageGeometry.out_channels);

  /// Seconds of one pass over all its kernels by a team of `threads`.
  double run(int threads);
  /// Every `step`th of the outputs [kernel][row][column].
  std::vector<float> outputs(std::int64_t step) const;

 private:
  std::int64_t count_;
  KernelTable<float> kernels_;
  std::vector<KernelContext> contexts_;
  AlignedBuffer<float> x_, w_, y_;
};

}  // namespace lockstep::cli
