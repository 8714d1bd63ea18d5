#include "lockstep/nn/plan.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

[[noreturn]] void refuse(const LayerPlan& plan, const std::string& why) {
  throw Error(ExitCode::usage,
              fmt::format("layer {} ({}): {}, input is {}", plan.path, layer_type(plan.spec), why, plan.in.str()));
}

void require(const LayerPlan& plan, bool condition, const std::string& why) {
  if (!condition) refuse(plan, why);
}

/// One layer type each: check the input, set the output shape, list the parameters.
struct Planner {
  LayerPlan& plan;
  const Init& init;

  void parameter(const char* name, Shape shape, Role role, std::int64_t fan_in, std::int64_t fan_out,
                 const Init& how) const {
    plan.parameters.push_back({.name = plan.path + "." + name,
                               .shape = shape,
                               .role = role,
                               .fan_in = fan_in,
                               .fan_out = fan_out,
                               .init = how});
  }

  void weight_and_bias(Shape weight, bool bias, std::int64_t fan_in, std::int64_t fan_out, const Init& how) const {
    parameter("weight", weight, Role::weight, fan_in, fan_out, how);
    const Init zero{.kind = InitKind::zeros};
    if (bias) parameter("bias", {weight[0]}, Role::bias, fan_in, fan_out, how.biases ? how : zero);
  }

  void image(const char* what) const {
    require(plan, plan.in.rank() == 3, fmt::format("{} needs an image [channels,height,width]", what));
  }

  void operator()(const Linear& l) const {
    require(plan, l.out >= 1, fmt::format("out = {} must be at least 1", l.out));
    const std::int64_t in = plan.in.elements();
    weight_and_bias({l.out, in}, l.bias, in, l.out, l.init.value_or(init));
    plan.out = {l.out};
  }

  void operator()(const Conv2d& c) const {
    image("conv2d");
    require(plan, c.out >= 1 && c.groups >= 1, "out and groups must be at least 1");
    require(plan,
            c.kernel.height >= 1 && c.kernel.width >= 1 && c.stride.height >= 1 && c.stride.width >= 1 &&
                c.dilation.height >= 1 && c.dilation.width >= 1 && c.pad.height >= 0 && c.pad.width >= 0,
            "kernel, stride and dilation must be at least 1, pad at least 0");
    require(plan, plan.in[0] % c.groups == 0 && c.out % c.groups == 0,
            fmt::format("groups = {} must divide the input channels and out = {}", c.groups, c.out));
    const Conv2dGeometry g = conv2d_geometry(c, plan.in);
    require(plan,
            g.in_height + 2 * g.pad_h >= g.dilation_h * (g.kernel_h - 1) + 1 &&
                g.in_width + 2 * g.pad_w >= g.dilation_w * (g.kernel_w - 1) + 1,
            fmt::format("kernel {}x{} is larger than the padded input", g.kernel_h, g.kernel_w));
    const std::int64_t taps = g.kernel_h * g.kernel_w;
    weight_and_bias({g.out_channels, g.in_per_group(), g.kernel_h, g.kernel_w}, c.bias, g.in_per_group() * taps,
                    g.out_per_group() * taps, c.init.value_or(init));
    plan.out = {g.out_channels, g.out_height(), g.out_width()};
  }

  template <class Pool>
  void pool(const Pool& p) const {
    image("pooling");
    const Pool2dGeometry g = pool2d_geometry(p.window, p.stride, p.pad, plan.in);
    require(plan, g.window_h >= 1 && g.window_w >= 1 && g.stride_h >= 1 && g.stride_w >= 1,
            "window and stride must be at least 1");
    require(plan, g.pad_h >= 0 && g.pad_w >= 0 && 2 * g.pad_h <= g.window_h && 2 * g.pad_w <= g.window_w,
            "pad must be between 0 and half the window");
    require(plan, g.in_height + 2 * g.pad_h >= g.window_h && g.in_width + 2 * g.pad_w >= g.window_w,
            fmt::format("window {}x{} is larger than the padded input", g.window_h, g.window_w));
    plan.out = {g.channels, g.out_height(), g.out_width()};
  }
  void operator()(const MaxPool2d& p) const { pool(p); }
  void operator()(const AvgPool2d& p) const { pool(p); }

  void operator()(const LeakyRelu& l) const { require(plan, l.slope >= 0, "slope must not be negative"); }
  void operator()(const Sigmoid& s) const { require(plan, s.lambda > 0, "lambda must be above 0"); }
  void operator()(const Relu&) const {}
  void operator()(const Tanh&) const {}
  void operator()(const AbsTanh&) const {}
  void operator()(const Gelu&) const {}
  void operator()(const Softmax&) const {}

  void operator()(const BatchNorm& b) const {
    require(plan, b.eps > 0, "eps must be above 0");
    require(plan, b.momentum > 0 && b.momentum <= 1, "momentum must be above 0 and at most 1");
    const std::int64_t channels = plan.in[0];
    const Init one{.kind = InitKind::constant, .scale = 1}, zero{.kind = InitKind::zeros};
    parameter("weight", {channels}, Role::scale, 1, 1, one);
    parameter("bias", {channels}, Role::bias, 1, 1, zero);
    parameter("running_mean", {channels}, Role::running_mean, 1, 1, zero);
    parameter("running_var", {channels}, Role::running_var, 1, 1, one);
  }

  void operator()(const Dropout& d) const { require(plan, d.p >= 0 && d.p < 1, "p must be at least 0 and below 1"); }
  void operator()(const Flatten&) const { plan.out = {plan.in.elements()}; }

  void operator()(const Residual& r) const {
    require(plan, !r.body.empty(), "a residual block needs a body");
    plan.body = plan_sequence(r.body, plan.in, plan.path + ".body.", init);
    plan.shortcut = plan_sequence(r.shortcut, plan.in, plan.path + ".shortcut.", init);
    plan.out = plan.body.back().out;
    const Shape other = plan.shortcut.empty() ? plan.in : plan.shortcut.back().out;
    require(plan, plan.out == other,
            fmt::format("body gives {} but the shortcut gives {}", plan.out.str(), other.str()));
  }
};

std::string extent(const Extent& e) { return fmt::format("{}x{}", e.height, e.width); }

/// ", pad 2" unless it is the usual value.
std::string unless(const char* name, const Extent& e, std::int64_t usual) {
  if (e == Extent(usual)) return "";
  return e.height == e.width ? fmt::format(", {} {}", name, e.height) : fmt::format(", {} {}", name, extent(e));
}

template <class Pool>
std::string pool_detail(const Pool& p) {
  std::string text = extent(p.window);
  if (p.stride && !(*p.stride == p.window)) text += unless("stride", *p.stride, 0);
  return text + unless("pad", p.pad, 0);
}

struct Detail {
  std::string operator()(const Linear& l) const { return l.bias ? "" : "no bias"; }
  std::string operator()(const Conv2d& c) const {
    return fmt::format("{} of {}{}{}{}{}{}", c.out, extent(c.kernel), unless("stride", c.stride, 1),
                       unless("pad", c.pad, 0), unless("dilation", c.dilation, 1),
                       c.groups == 1 ? "" : fmt::format(", {} groups", c.groups), c.bias ? "" : ", no bias");
  }
  std::string operator()(const MaxPool2d& p) const { return pool_detail(p); }
  std::string operator()(const AvgPool2d& p) const { return pool_detail(p); }
  std::string operator()(const LeakyRelu& l) const { return fmt::format("slope {}", l.slope); }
  std::string operator()(const Sigmoid& s) const { return s.lambda == 1 ? "" : fmt::format("lambda {}", s.lambda); }
  std::string operator()(const BatchNorm& b) const { return fmt::format("momentum {}, eps {}", b.momentum, b.eps); }
  std::string operator()(const Dropout& d) const { return fmt::format("p {}", d.p); }
  std::string operator()(const Residual& r) const {
    return fmt::format("body of {}, shortcut of {}", r.body.size(), r.shortcut.size());
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

Conv2dGeometry conv2d_geometry(const Conv2d& c, const Shape& in) {
  return {.in_channels = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .out_channels = c.out,
          .kernel_h = c.kernel.height,
          .kernel_w = c.kernel.width,
          .stride_h = c.stride.height,
          .stride_w = c.stride.width,
          .pad_h = c.pad.height,
          .pad_w = c.pad.width,
          .dilation_h = c.dilation.height,
          .dilation_w = c.dilation.width,
          .groups = c.groups};
}

Pool2dGeometry pool2d_geometry(const Extent& window, const std::optional<Extent>& stride, const Extent& pad,
                               const Shape& in) {
  const Extent step = stride.value_or(window);
  return {.channels = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .window_h = window.height,
          .window_w = window.width,
          .stride_h = step.height,
          .stride_w = step.width,
          .pad_h = pad.height,
          .pad_w = pad.width};
}

LayerPlan plan_layer(const LayerSpec& spec, const Shape& in, const std::string& path, const Init& init) {
  LayerPlan plan{.path = path, .spec = spec, .in = in, .out = in};
  std::visit(Planner{plan, init}, spec.kind);
  return plan;
}

std::vector<LayerPlan> plan_sequence(const std::vector<LayerSpec>& specs, const Shape& in, const std::string& prefix,
                                     const Init& init) {
  std::vector<LayerPlan> plans;
  for (const LayerSpec& spec : specs)
    plans.push_back(
        plan_layer(spec, plans.empty() ? in : plans.back().out, prefix + std::to_string(plans.size()), init));
  return plans;
}

std::string layer_detail(const LayerSpec& spec) { return std::visit(Detail{}, spec.kind); }

}  // namespace lockstep
