#include "lockstep/nn/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

/// "momentum 0.1, eps 1e-05"
template <class Record>
std::string all_fields(const Record& record) {
  std::vector<std::string> parts;
  for_each_in(Record::fields(),
              [&](const auto& each) { parts.push_back(fmt::format("{} {}", each.name, each.of(record))); });
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string extent_text(const Extent& extent) { return fmt::format("{}x{}", extent.height, extent.width); }

std::string detail_unless(const char* name, const Extent& extent, std::int64_t usual) {
  if (extent == Extent(usual)) return "";
  return fmt::format(", {} {}", name,
                     extent.height == extent.width ? std::to_string(extent.height) : extent_text(extent));
}

std::string layer_type(const LayerSpec& spec) {
  return std::visit([](const auto& layer) { return std::string(layer.kName); }, spec.kind);
}

std::string layer_detail(const LayerSpec& spec) {
  return std::visit(
      [](const auto& layer) {
        if constexpr (requires { layer.detail(); })
          return layer.detail();
        else
          return all_fields(layer);
      },
      spec.kind);
}

}  // namespace lockstep
