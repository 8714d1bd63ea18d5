#pragma once
// Images of another size. Both methods are separable: first the rows are combined (height), then the columns (width);
// each output is one fma chain over its taps, ascending, in double, starting from 0.

#include <cstdint>
#include <string_view>
#include <vector>

#include "lockstep/core/names.hpp"
#include "lockstep/data/array.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

enum class ResizeMethod { average, bicubic };

constexpr Described describe(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::average:
      return {"average", "each output is the mean of the input area it covers; whole ratios are average pooling"};
    case ResizeMethod::bicubic:
      return {"bicubic", "cubic convolution (a = -1/2), stretched by the ratio when shrinking; edges clamped"};
  }
  return {};
}

/// "average" or "bicubic"; Error(usage) for anything else.
ResizeMethod parse_resize_method(std::string_view text);

/// Output i is the sum of weight[t] * input[index[t]]; weights sum to 1 up to rounding.
struct ResizeTaps {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};
/// The taps of every output along one axis.
std::vector<ResizeTaps> resize_taps(std::int64_t in, std::int64_t out, ResizeMethod method);

/// Every image [channels,height,width] becomes [channels,size,size], float64 whatever the input: values are not
/// rounded or clipped back (bicubic overshoots).
Samples resize_images(const Samples& samples, std::int64_t size, ResizeMethod method);

/// Every image with height and width swapped, in its own element type.
Samples transpose_images(const Samples& samples);

}  // namespace lockstep
