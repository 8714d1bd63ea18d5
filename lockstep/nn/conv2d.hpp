#pragma once

#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/nn/record.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// See kernels/conv2d.hpp.
struct Conv2d {
  std::int64_t out = 0;
  Extent kernel = 1, stride = 1, pad = 0, dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  std::optional<Init> init{};

  static constexpr const char* kName = "conv2d";
  static constexpr const char* kHelp = "convolution of an image";
  static constexpr const char* kExample = "{conv2d = {out = 6, kernel = 5}}";
  static constexpr auto fields() {
    return std::tuple{
        field("out", &Conv2d::out, kOutputRange, "output channels").needs("the number of output channels"),
        field("kernel", &Conv2d::kernel, kWindowRange, "size of the window")
            .needs("the size of the window, for example 3 or [3, 5]"),
        field("stride", &Conv2d::stride, kWindowRange, "from window to window"),
        field("pad", &Conv2d::pad, kPadRange, "zeros around the image"),
        field("dilation", &Conv2d::dilation, kWindowRange, "from tap to tap of a window"),
        field("groups", &Conv2d::groups, kOutputRange, "groups of channels that see only each other"),
        field("bias", &Conv2d::bias, kBiasHelp),
        field("init", &Conv2d::init, kInitHelp)};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

Conv2dGeometry conv2d_geometry(const Conv2d& spec, const Shape& in);

}  // namespace lockstep
