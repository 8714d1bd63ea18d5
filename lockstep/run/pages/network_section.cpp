#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/pages/sections.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMostProfileBytes = 64 << 20;

/// Layers that are named behind the one before, without a block of their own.
bool is_small(const LayerPlan& plan) {
  const bool norm =
      std::holds_alternative<BatchNorm>(plan.spec.kind) || std::holds_alternative<LayerNorm>(plan.spec.kind);
  return (norm || plan.parameters.empty()) && plan.in.elements() == plan.out.elements() && plan.body.empty();
}

std::int64_t trainable_of(const LayerPlan& plan) {
  std::int64_t sum = 0;
  for (const ParameterInfo& info : plan.parameters) sum += info.trainable() ? info.elements() : 0;
  return sum;
}

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape.extents(), " × ")); }

report::DrawnLayer drawn(const LayerPlan& plan) {
  report::DrawnLayer layer{.name = layer_type(plan.spec),
                           .detail = layer_detail(plan.spec),
                           .shape = shape_text(plan.out),
                           .tone = plan.parameters.empty() ? report::Tone::neutral : report::Tone::simd};
  layer.channels = double(plan.out.rank() > 0 ? plan.out[0] : 1);
  for (int axis = 1; axis < plan.out.rank(); ++axis) layer.side = std::max(layer.side, double(plan.out[axis]));
  layer.parameters = trainable_of(plan);
  return layer;
}

/// Seconds of a layer, forward and backward; nothing where it was not profiled.
std::optional<double> seconds_of(const LayerPlan& plan, const std::vector<ProfiledLayer>& profile) {
  const std::string name = fmt::format("{} {}", plan.path, layer_type(plan.spec));
  std::optional<double> sum;
  for (const ProfiledLayer& row : profile)
    if (row.section == name) sum = sum.value_or(0) + row.seconds;
  return sum;
}

class Drawer {
 public:
  Drawer(report::NetworkDrawing& drawing, const std::vector<ProfiledLayer>& profile)
      : drawing_(drawing), profile_(profile) {
    for (const ProfiledLayer& row : profile) all_ += row.seconds;
  }

  void add(const std::vector<LayerPlan>& plans, bool skipped) {
    for (const LayerPlan& plan : plans) {
      if (std::holds_alternative<Residual>(plan.spec.kind)) {
        add(plan.body, true);
        count(plan);
      } else if (is_small(plan)) {
        report::DrawnLayer& before = drawing_.layers.back();
        if (!std::holds_alternative<Flatten>(plan.spec.kind))
          before.then += (before.then.empty() ? "" : ", ") + layer_type(plan.spec);
        before.parameters += trainable_of(plan);
        count(plan);
      } else {
        drawing_.layers.push_back(drawn(plan));
        drawing_.layers.back().skipped = skipped;
        count(plan);
      }
    }
  }

 private:
  void count(const LayerPlan& plan) {
    if (all_ <= 0) return;
    if (const auto seconds = seconds_of(plan, profile_)) {
      auto& share = drawing_.layers.back().share;
      share = share.value_or(0) + *seconds / all_;
    }
    for (const LayerPlan& inner : plan.shortcut) count(inner);
  }

  report::NetworkDrawing& drawing_;
  const std::vector<ProfiledLayer>& profile_;
  double all_ = 0;
};

}  // namespace

std::vector<ProfiledLayer> read_profile(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text = read_text(path, kMostProfileBytes);
  try {
    std::vector<ProfiledLayer> rows;
    const auto json = nlohmann::json::parse(text);
    for (const auto& row : json.at("sections")) {
      ProfiledLayer layer{.section = row.at("section"),
                          .phase = row.at("phase"),
                          .seconds = row.at("seconds"),
                          .share = row.at("share")};
      if (row.contains("share_of_peak")) layer.peak_share = row.at("share_of_peak").get<double>();
      if (layer.phase == "forward" || layer.phase == "backward") rows.push_back(std::move(layer));
    }
    return rows;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::data, fmt::format("{}: is damaged: {}; remove it, and the report is made without it",
                                             path.string(), one_line(error.what())));
  }
}

report::NetworkDrawing network_drawing(const Network& network, const std::vector<ProfiledLayer>& profile) {
  report::NetworkDrawing drawing{.id = "network", .title = "The network"};
  report::DrawnLayer input{.name = "input", .shape = shape_text(network.input()), .tone = report::Tone::neutral};
  input.channels = double(network.input()[0]);
  for (int axis = 1; axis < network.input().rank(); ++axis)
    input.side = std::max(input.side, double(network.input()[axis]));
  drawing.layers.push_back(input);
  Drawer(drawing, profile).add(network.plans(), false);
  const bool skips = std::any_of(drawing.layers.begin(), drawing.layers.end(), [](const auto& l) { return l.skipped; });
  drawing.description =
      fmt::format("{} from input {} to output {} with {} parameters.", count_of(std::ssize(network.layers()), "layer"),
                  shape_text(network.input()), shape_text(network.output()), with_commas(network.trainable_count()));
  drawing.note =
      fmt::format("{} → {}, {} trainable parameters; blue blocks have some.{}{}", shape_text(network.input()),
                  shape_text(network.output()), with_commas(network.trainable_count()),
                  skips ? " Dashed lines lead around residual blocks." : "",
                  profile.empty() ? "" : " Shares are those of the time in layers, forward and backward.");
  return drawing;
}

void add_profile(report::Section& section, const std::vector<ProfiledLayer>& profile) {
  if (profile.empty()) return;
  constexpr std::size_t kMostLayers = 40;
  std::vector<std::string> names;
  for (const ProfiledLayer& row : profile)
    if (std::find(names.begin(), names.end(), row.section) == names.end()) names.push_back(row.section);
  const std::size_t all = names.size();
  if (all > kMostLayers) names.resize(kMostLayers);
  const auto find = [&](const std::string& name, const char* phase) -> const ProfiledLayer* {
    for (const ProfiledLayer& row : profile)
      if (row.section == name && row.phase == phase) return &row;
    return nullptr;
  };
  report::BarChart time{
      .id = "layer-time",
      .title = "Time of every layer",
      .description = "Seconds of each layer, forward and backward behind one another.",
      .axis = {.title = "Time", .unit = "s"},
      .series = {{.name = "forward", .tone = report::Tone::simd}, {.name = "backward", .tone = report::Tone::ranks}},
      .stacked = true};
  report::BarChart peak{.id = "layer-peak",
                        .title = "Share of the machine's peak",
                        .description =
                            "Floating-point operations per second of each layer, as a share of the peak that "
                            "was measured before the training.",
                        .axis = {.title = "Share of peak", .low = 0, .high = 1, .format = report::percent(0)},
                        .series = time.series};
  if (all > names.size()) time.note = fmt::format("The first {} of {} layers.", names.size(), all);
  for (const std::string& name : names) {
    const ProfiledLayer *forward = find(name, "forward"), *backward = find(name, "backward");
    report::BarGroup seconds{.label = name}, shares{.label = name};
    bool any = false;
    for (const ProfiledLayer* row : {forward, backward}) {
      seconds.bars.emplace_back(row != nullptr ? row->seconds : 0);
      any = any || (row != nullptr && row->peak_share);
      if (row != nullptr && row->peak_share)
        shares.bars.emplace_back(*row->peak_share);
      else
        shares.bars.emplace_back(0);
    }
    time.groups.push_back(std::move(seconds));
    if (any) peak.groups.push_back(std::move(shares));
  }
  section.add(std::move(time));
  if (!peak.groups.empty()) section.add(std::move(peak));
}

}  // namespace lockstep
