#pragma once
// How the host side of a kernel starts it, and the shapes of launch that several share.

#include <algorithm>
#include <array>
#include <string_view>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep::device {

/// The two ways to run the same text: as a first course writes it, or as suits the device.
enum class Style { naive, tuned };

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The sizes of groups are powers of two: few shapes, because some drivers compile a kernel for each.
inline std::int64_t power_of_two(std::int64_t at_least) {
  std::int64_t power = 1;
  while (power < at_least) power *= 2;
  return power;
}

struct Shape {
  std::array<std::int64_t, 3> groups{1, 1, 1}, group_size{1, 1, 1};
  bool vectors = false;
};

/// Starts `kernel` for scalars of type T; nothing happens where the launch is empty.
template <class T, class... Arguments>
void start(KernelContext& context, std::string_view kernel, const Shape& shape, const Arguments&... arguments) {
  if (shape.groups[0] == 0 || shape.groups[1] == 0 || shape.groups[2] == 0) return;
  const std::array<KernelArgument, sizeof...(Arguments)> list = {KernelArgument(arguments)...};
  context.device().launch({.kernel = kernel,
                           .float64 = sizeof(T) == 8,
                           .vectors = shape.vectors,
                           .groups = shape.groups,
                           .group_size = shape.group_size,
                           .arguments = list});
}

inline constexpr std::int64_t kGroup = 64;          // work-items of element-wise kernels
inline constexpr std::int64_t kSide = 16;           // of the square groups of the naive linear kernels
inline constexpr std::int64_t kMostGroups = 65535;  // in y and z, on every device
inline constexpr std::int64_t kTurns = 4;           // work-groups per processor, so that none waits long for the last

/// One work-item per element of a matrix; on a processor few work-items, each with whole rows in vectors.
inline Shape over_matrix(const Device& device, Style style, std::int64_t rows, std::int64_t cols) {
  const DeviceInfo& info = device.info();
  if (rows == 0 || cols == 0) return {.groups = {0, 0, 0}};
  if (style == Style::tuned && info.is_cpu)
    return {.groups = {1, std::min(rows, kTurns * info.compute_units), 1}, .vectors = true};
  return {.groups = {divide_up(cols, kGroup), std::min(rows, kMostGroups), 1}, .group_size = {kGroup, 1, 1}};
}

/// One work-item per element of a vector.
inline Shape over_vector(const Device& device, Style style, std::int64_t count) {
  const DeviceInfo& info = device.info();
  constexpr std::int64_t kWorth = 4096;  // elements that are worth a work-group of a processor
  if (style == Style::tuned && info.is_cpu)
    return {.groups = {std::min(divide_up(count, kWorth), kTurns * info.compute_units), 1, 1}, .vectors = true};
  return {.groups = {divide_up(count, kGroup), 1, 1}, .group_size = {kGroup, 1, 1}};
}

/// How text/tile.h cuts rows: sixes, a four, ones.
inline std::int64_t tiles_of(std::int64_t rows) {
  const std::int64_t rest = rows % 6;
  return rows / 6 + (rest >= 4 ? rest - 3 : rest);
}

/// Tiles of two vectors of samples, one work-item each: for devices whose work-items hold vectors.
template <class T>
Shape over_tiles(const Device& device, std::int64_t samples, std::int64_t tiles, std::int64_t images = 1) {
  return {.groups = {divide_up(samples, 2 * device.info().lanes<T>()), tiles, images}, .vectors = true};
}

// One function per family of operations fills its slots of a table; table.cpp calls them.
template <class T, Style kStyle>
void add_elementwise(KernelTable<T>& table);
template <class T, Style kStyle>
void add_optimizers(KernelTable<T>& table);
template <class T, Style kStyle>
void add_losses(KernelTable<T>& table);
template <class T, Style kStyle>
void add_pooling(KernelTable<T>& table);
template <class T, Style kStyle>
void add_batch_norm(KernelTable<T>& table);
/// Over what the naive ones left.
template <class T>
void add_tuned_linear(KernelTable<T>& table);
template <class T>
void add_tuned_conv2d(KernelTable<T>& table);
template <class T>
void add_naive_linear(KernelTable<T>& table);
template <class T>
void add_naive_conv2d(KernelTable<T>& table);

// NOLINTBEGIN(bugprone-macro-parentheses): a template's name cannot stand in parentheses
#define LOCKSTEP_INSTANTIATE_STYLES(function)                         \
  template void function<float, Style::naive>(KernelTable<float>&);   \
  template void function<float, Style::tuned>(KernelTable<float>&);   \
  template void function<double, Style::naive>(KernelTable<double>&); \
  template void function<double, Style::tuned>(KernelTable<double>&)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace lockstep::device
