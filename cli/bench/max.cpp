// max(A, B) of two 1000x1000 matrices of integers from 0 to 255.

#include <memory>

#include <fmt/format.h>

#include "cli/bench/machine.hpp"
#include "cli/bench/primitives.hpp"
#include "cli/bench/team_primitives.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/kernels/device/primitives.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kSize = 1000;

/// The operands, what the trivial loops make of them, and room for what a variant does.
struct MaxProblem {
  AlignedBuffer<std::int32_t> a{kSize * kSize}, b{kSize * kSize}, expected{kSize * kSize}, c{kSize * kSize};

  MaxProblem() {
    for (std::int64_t i = 0; i < kSize * kSize; ++i) {
      a[i] = static_cast<std::int32_t>(256 * uniform({.seed = 1, .purpose = Purpose::data}, std::uint64_t(i)));
      b[i] = static_cast<std::int32_t>(256 * uniform({.seed = 2, .purpose = Purpose::data}, std::uint64_t(i)));
    }
    naive_primitives().elementwise_max(arguments(expected));
  }

  ElementwiseMax arguments(AlignedBuffer<std::int32_t>& to) {
    return {.a = dense_matrix<const std::int32_t>(a.data(), kSize, kSize),
            .b = dense_matrix<const std::int32_t>(b.data(), kSize, kSize),
            .c = dense_matrix(to.data(), kSize, kSize)};
  }

  /// Also forgets it, so that the next variant cannot live on it.
  std::string check(const std::string& who) {
    for (std::int64_t i = 0; i < c.size(); ++i)
      if (c[i] != expected[i])
        throw Error(ErrorCode::bug, fmt::format("max by {}: element {} is {}, not {}", who, i, c[i], expected[i]));
    std::fill_n(c.data(), c.size(), -1);
    return "same";
  }
};

/// The same on a device, where the operands lie already: a call is a launch and the wait for its end.
class DeviceMax {
 public:
  DeviceMax(Device* device, MaxProblem& problem) : device_(device), problem_(problem) {
    if (device_ == nullptr) return;
    a_ = copy_to(*device_, problem.a);
    b_ = copy_to(*device_, problem.b);
    c_ = copy_to(*device_, problem.c);
  }

  /// Gives the number of blocks.
  std::int64_t run(bool classic) {
    const device::MaxArguments arguments{.a = a_.data(), .b = b_.data(), .c = c_.data(), .rows = kSize, .cols = kSize};
    std::int64_t blocks = kSize;
    if (classic)
      device::max_by_rows(*device_, arguments);
    else
      blocks = device::max_by_turns(*device_, arguments);
    device_->synchronize();
    return blocks;
  }

  void fetch() {
    device_->to_host(problem_.c.data(), c_.data(), c_.size() * static_cast<std::int64_t>(sizeof(std::int32_t)));
    device_->zero(c_.data(), c_.size() * static_cast<std::int64_t>(sizeof(std::int32_t)));
  }

 private:
  Device* device_;
  MaxProblem& problem_;
  AlignedBuffer<std::int32_t> a_, b_, c_;
};

}  // namespace

PrimitiveTimes measure_max(const PrimitiveOptions& options, const PrimitiveLimits& limits, Console& console) {
  PrimitiveTimes times{.name = "max", .shape = fmt::format("{0}x{0}", kSize), .steps = double(kSize * kSize)};
  MaxProblem problem;
  DeviceMax on_device(options.device.get(), problem);
  std::vector<PrimitiveVariant> variants;
  const auto add = [&](PrimitiveSubject subject, std::function<void()> run) {
    subject.cost = elementwise_max_cost(kSize, kSize);
    subject.steps = times.steps;
    const std::string who = subject.name;
    const bool fetch = subject.kind == PrimitiveKind::device;
    variants.push_back({std::move(subject), std::move(run), [&problem, &on_device, who, fetch] {
                          if (fetch) on_device.fetch();
                          return problem.check(who);
                        }});
  };
  const auto serial = [&](PrimitiveKind kind, const std::string& name, const PrimitiveTable& table) {
    add({.kind = kind, .name = name, .kernel = std::string(table.name)},
        [&problem, table] { table.elementwise_max(problem.arguments(problem.c)); });
  };
  serial(PrimitiveKind::trivial, "trivial loops", naive_primitives());
  try {
    serial(PrimitiveKind::unoptimised, "trivial loops, -O0", naive_o0_primitives());
  } catch (const Error& error) {
    times.left_out.emplace_back(error.what());
  }
  const PrimitiveTable simd = simd_primitives(chosen_isa());
  for (const int threads : options.threads)
    add({.kind = PrimitiveKind::simd, .name = "simd", .kernel = std::string(simd.name), .threads = threads},
        [&problem, simd, team = std::make_shared<Team>(threads)] {
          team_elementwise_max(simd, problem.arguments(problem.c), *team);
        });
  if (options.device)
    for (const bool classic : {true, false}) try {
        const std::int64_t blocks = on_device.run(classic);
        add({.kind = PrimitiveKind::device,
             .name =
                 classic ? fmt::format("device, {0} blocks of {0} threads", kSize) : "device, blocks that take turns",
             .kernel = options.device->info().backend,
             .blocks = blocks},
            [&on_device, classic] { on_device.run(classic); });
      } catch (const Error& error) {
        times.left_out.emplace_back(error.what());
      }
  finish_measuring(times, variants, measure_python("max", kSize, 0, options.quick), options, limits, console);
  return times;
}

}  // namespace lockstep::cli
