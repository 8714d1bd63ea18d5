#pragma once

#include "lockstep/kernels/pool2d.hpp"
#include "lockstep/nn/record.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// See kernels/pool2d.hpp. Without a stride the windows do not overlap.
template <bool kMax>
struct Pool2d {
  Extent window = 2;
  std::optional<Extent> stride{};
  Extent pad = 0;

  static constexpr const char* kName = kMax ? "max_pool2d" : "avg_pool2d";
  static constexpr const char* kHelp = kMax ? "largest pixel of each window" : "mean of each window";
  static constexpr auto fields() {
    return std::tuple{field("window", &Pool2d::window, kWindowRange, "size of the window").shorthand(),
                      field("stride", &Pool2d::stride, kWindowRange, "from window to window; default: the window"),
                      field("pad", &Pool2d::pad, kPadRange, "pixels around the image, at most half the window")};
  }
  /// With the stride written out, as model files have it.
  Pool2d resolved() const { return {window, stride.value_or(window), pad}; }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};
using MaxPool2d = Pool2d<true>;
using AvgPool2d = Pool2d<false>;

Pool2dGeometry pool2d_geometry(const Extent& window, const std::optional<Extent>& stride, const Extent& pad,
                               const Shape& in);

}  // namespace lockstep
