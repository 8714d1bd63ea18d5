#pragma once
// The host side of every operation on a device, declared from the list of operations; each is defined in the source of
// its operation. An operation without a definition does not link: a device never falls back to kernels of the host.
// Also how the host side starts a kernel, and the shapes of launch that several share.

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep::device {

/// The two ways to run the same text: as a first course writes it, or as suits the device.
enum class Style { naive, tuned };

#define LOCKSTEP_DEVICE_DECLARE(operation, Args) \
  template <class T, Style kStyle>               \
  void operation(const Args<T>&, KernelContext&);
LOCKSTEP_OPERATIONS(LOCKSTEP_DEVICE_DECLARE)
#undef LOCKSTEP_DEVICE_DECLARE

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
inline constexpr std::int64_t kMostInX = 0x7fffffff;
inline constexpr std::int64_t kMostScratch = std::int64_t{64} << 20;  // bytes, for the sums of chunks of slots
inline constexpr std::int64_t kTurns = 4;  // work-groups per processor, so that none waits long for the last

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

/// y(r, s) = b(r) + the sum over k of w[r * row_step + k * k_step] * x(k, s); without a bias from 0.
template <class T>
struct LinearProduct {
  ConstMatrix<T> x;
  const T* w = nullptr;
  std::int64_t row_step = 0, k_step = 0;
  const T* b = nullptr;
  Matrix<T> y;
};
template <class T>
void linear_product(const LinearProduct<T>& arguments, KernelContext& context);

/// Adds up over the slots what batch normalisation left of each in [2][slots][channels].
template <class T>
void add_slots(KernelContext& context, std::int64_t channels, std::int64_t slots, const T* sums, T* first, T* second) {
  start<T>(context, "batch_norm_tree", over_vector(context.device(), Style::naive, channels), channels, slots, sums,
           first, second);
}

// Weight gradients, cut over slots where their outputs alone would leave a device idle.

/// How many aligned chunks of slots get work-groups of their own: a power of two, enough to keep the device busy with
/// `groups` work-groups each, while the sums of all chunks, `count` each, stay small.
template <class T>
std::int64_t slot_chunks(const Device& device, std::int64_t slots, std::int64_t groups, std::int64_t count) {
  std::int64_t chunks = 1;
  while (chunks < slots && chunks * groups < kTurns * device.info().compute_units &&
         2 * chunks * count * static_cast<std::int64_t>(sizeof(T)) <= kMostScratch)
    chunks *= 2;
  return chunks;
}

/// The largest number of left branches that wait at the same time in the tree over `slots` slots, a power of two.
inline std::int64_t tree_levels(std::int64_t slots) { return std::bit_width(static_cast<std::uint64_t>(slots)) - 1; }

/// y = the tree over what the chunks left at sums, sums + step, ...
template <class T>
void add_chunks(KernelContext& context, const T* sums, std::int64_t step, std::int64_t chunks, T* y,
                std::int64_t count) {
  start<T>(context, "add_slots", over_vector(context.device(), Style::naive, count), sums, step, chunks, y, count);
}

/// The same for the weights and, behind each chunk of them, the bias of a layer; one launch where the two lie behind
/// each other in the gradient too.
template <class T>
void add_chunks_of_layer(KernelContext& context, const T* sums, std::int64_t chunks, T* dw, std::int64_t weights, T* db,
                         std::int64_t outputs) {
  const bool together = db == dw + weights;
  add_chunks<T>(context, sums, weights + outputs, chunks, dw, weights + (together ? outputs : 0));
  if (db != nullptr && !together) add_chunks<T>(context, sums + weights, weights + outputs, chunks, db, outputs);
}

}  // namespace lockstep::device

// NOLINTBEGIN(bugprone-macro-parentheses): the name of a template takes none
#define LOCKSTEP_DEVICE_INSTANTIATE(operation, Args)                                  \
  template void operation<float, Style::naive>(const Args<float>&, KernelContext&);   \
  template void operation<float, Style::tuned>(const Args<float>&, KernelContext&);   \
  template void operation<double, Style::naive>(const Args<double>&, KernelContext&); \
  template void operation<double, Style::tuned>(const Args<double>&, KernelContext&);
// NOLINTEND(bugprone-macro-parentheses)
