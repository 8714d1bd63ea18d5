#include "lockstep/kernels/device/primitives.hpp"

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

constexpr std::int64_t kThreads = 256, kTileRows = 6 /* XXT_ROWS of the text */, kChains = 8 /* of fma_peak */;

void check_block(const Device& device, std::int64_t threads) {
  if (threads > device.info().max_group)
    throw Error(ErrorCode::usage, fmt::format("a block of {} threads: {} has at most {}", threads, device.info().name,
                                              device.info().max_group));
}

template <class... Arguments>
void begin(Device& device, std::string_view kernel, const Shape& shape, const Arguments&... arguments) {
  KernelContext context(&device);
  start<float>(context, kernel, shape, arguments...);
}

Shape in_blocks(std::int64_t items, std::int64_t threads) {
  return {.groups = {divide_up(items, threads), 1, 1}, .group_size = {threads, 1, 1}};
}

}  // namespace

void launch_nothing(Device& device, float* anything) {
  begin(device, "nothing", {}, anything);
  device.synchronize();
}

template <class T>
double measure_fma_peak(Device& device) {
  const DeviceInfo& info = device.info();
  const Shape shape = info.is_cpu ? Shape{.groups = {kTurns * info.compute_units, 1, 1}, .vectors = true}
                                  : in_blocks(16 * kThreads * info.compute_units, kThreads);
  const std::int64_t numbers = shape.groups[0] * shape.group_size[0] * (info.is_cpu ? info.lanes<T>() : 1);
  AlignedBuffer<T> sums(numbers, device);
  KernelContext context(&device);
  constexpr double kLong = 5e-3;  // so that neither clock nor start counts
  double best = 0;
  for (std::int64_t rounds = 64, good = 0; good < 5 && rounds < std::int64_t{1} << 40;) {
    device.set_timing(true);
    start<T>(context, "fma_peak", shape, sums.data(), T(0.5), T(0.25), rounds);
    const double seconds = device.kernel_times().at("fma_peak").seconds;
    if (seconds < kLong) {
      rounds *= 4;
      continue;
    }
    best = std::max(best, 2.0 * double(kChains) * double(numbers) * double(rounds) / seconds);
    ++good;
  }
  device.set_timing(false);
  return best;
}
template double measure_fma_peak<float>(Device&);
template double measure_fma_peak<double>(Device&);

void max_by_rows(Device& device, const MaxArguments& a) {
  check_block(device, a.cols);
  begin(device, "elementwise_max_each", in_blocks(a.rows * a.cols, a.cols), a.a, a.b, a.c, a.rows * a.cols);
}

std::int64_t max_by_turns(Device& device, const MaxArguments& a) {
  const DeviceInfo& info = device.info();
  const std::int64_t count = a.rows * a.cols, lanes = info.is_cpu ? info.lanes_float32 : 1;
  Shape shape = info.is_cpu ? Shape{.groups = {kTurns * info.compute_units, 1, 1}, .vectors = true}
                            : in_blocks(8 * kThreads * info.compute_units, kThreads);
  begin(device, "elementwise_max_turns", shape, a.a, a.b, a.c, count, shape.groups[0] * shape.group_size[0] * lanes);
  return shape.groups[0];
}

void xxt_by_one_block(Device& device, const XxtArguments& a, std::int64_t threads) {
  check_block(device, threads);
  begin(device, "xxt_elements", in_blocks(threads, threads), a.x, a.y, a.n, a.k, threads);
}

std::int64_t xxt_by_elements(Device& device, const XxtArguments& a) {
  const Shape shape = in_blocks(a.n * a.n, std::min(kThreads, device.info().max_group));
  begin(device, "xxt_elements", shape, a.x, a.y, a.n, a.k, shape.groups[0] * shape.group_size[0]);
  return shape.groups[0];
}

std::int64_t xxt_by_tiles(Device& device, const XxtArguments& a) {
  const DeviceInfo& info = device.info();
  begin(device, "xxt_transpose", in_blocks(a.n * a.k, std::min(kThreads, info.max_group)), a.x, a.transposed, a.n, a.k);
  const std::int64_t rows = divide_up(a.n, kTileRows);
  const Shape shape = info.is_cpu
                          ? Shape{.groups = {divide_up(a.n, info.lanes_float32), rows, 1}, .vectors = true}
                          : Shape{.groups = {divide_up(a.n, kThreads), rows, 1}, .group_size = {kThreads, 1, 1}};
  begin(device, "xxt_tiles", shape, a.x, static_cast<const float*>(a.transposed), a.y, a.n, a.k);
  return shape.groups[0] * shape.groups[1];
}

}  // namespace lockstep::device
