// X X^T, for the matrix of the exercise (784x128) and a square one.

#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "cli/bench/machine.hpp"
#include "cli/bench/primitives.hpp"
#include "cli/bench/team_primitives.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/openblas.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/primitives.hpp"
#include "lockstep/kernels/naive/table.hpp"

namespace lockstep::cli {

namespace {

struct XxtProblem {
  std::int64_t n, k;
  AlignedBuffer<float> x{n * k}, expected{n * n}, y{n * n};

  XxtProblem(std::int64_t n_, std::int64_t k_) : n(n_), k(k_) {
    for (std::int64_t i = 0; i < n * k; ++i)
      x[i] = static_cast<float>(2 * uniform({.seed = 3, .purpose = Purpose::data}, std::uint64_t(i)) - 1);
    naive_primitives().xxt(arguments(expected));
  }

  Xxt arguments(AlignedBuffer<float>& to) {
    return {.x = dense_matrix<const float>(x.data(), n, k), .y = dense_matrix(to.data(), n, n)};
  }

  void forget() { std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN()); }

  std::string check_bits(const std::string& who) {
    for (std::int64_t i = 0; i < y.size(); ++i)
      if (y[i] != expected[i])
        throw Error(ErrorCode::bug,
                    fmt::format("xxt by {}: element ({}, {}) is {}, not {}", who, i / n, i % n, y[i], expected[i]));
    forget();
    return "same";
  }

  /// A library sums in its own order: its distance, as a share of the largest product, within what k roundings allow.
  std::string check_distance(const std::string& who) {
    double largest = 0, distance = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const double away = std::abs(double(y[i]) - double(expected[i]));
      largest = std::max(largest, std::abs(double(expected[i])));
      distance = std::isnan(away) ? away : std::max(distance, away);
    }
    const double share = distance / largest;
    if (!(share <= double(k) * double(std::numeric_limits<float>::epsilon())))
      throw Error(ErrorCode::bug,
                  fmt::format("xxt by {}: {} of the largest element away from the definition", who, share));
    forget();
    return share == 0 ? "same" : fmt::format("within {:.1g}", share);
  }
};

constexpr std::int64_t kClassicBlock = 1024;

/// The same on a device, where x lies already: a call is a launch and the wait for its end.
class DeviceXxt {
 public:
  enum class Shape { one_block, elements, tiles };

  DeviceXxt(Device* device, XxtProblem& problem) : device_(device), problem_(problem) {
    if (device_ == nullptr) return;
    x_ = copy_to(*device_, problem.x);
    y_ = AlignedBuffer<float>(problem.y.size(), *device_);
    transposed_ = AlignedBuffer<float>(problem.x.size(), *device_);
  }

  /// Gives the number of blocks.
  std::int64_t run(Shape shape) {
    const device::XxtArguments arguments{
        .x = x_.data(), .y = y_.data(), .transposed = transposed_.data(), .n = problem_.n, .k = problem_.k};
    std::int64_t blocks = 1;
    if (shape == Shape::one_block)
      device::xxt_by_one_block(*device_, arguments, kClassicBlock);
    else
      blocks = shape == Shape::elements ? device::xxt_by_elements(*device_, arguments)
                                        : device::xxt_by_tiles(*device_, arguments);
    device_->synchronize();
    return blocks;
  }

  void fetch() {
    const std::int64_t bytes = y_.size() * static_cast<std::int64_t>(sizeof(float));
    device_->to_host(problem_.y.data(), y_.data(), bytes);
    device_->zero(y_.data(), bytes);
  }

 private:
  Device* device_;
  XxtProblem& problem_;
  AlignedBuffer<float> x_, y_, transposed_;
};

}  // namespace

PrimitiveTimes measure_xxt(std::int64_t n, std::int64_t k, const PrimitiveOptions& options,
                           const PrimitiveLimits& limits, Console& console) {
  PrimitiveTimes times{.name = "xxt", .shape = fmt::format("{}x{}", n, k), .steps = double(n) * double(n) * double(k)};
  XxtProblem problem(n, k);
  DeviceXxt on_device(options.device.get(), problem);
  std::vector<PrimitiveVariant> variants;
  const auto add = [&](PrimitiveSubject subject, std::function<void()> run) {
    subject.cost = xxt_cost(n, k, subject.symmetric);
    subject.steps = subject.cost.flops / 2;
    const bool bits = subject.kind != PrimitiveKind::library;
    const bool fetch = subject.kind == PrimitiveKind::device;
    const std::string who = subject.name;
    variants.push_back({std::move(subject), std::move(run), [&problem, &on_device, who, bits, fetch] {
                          if (fetch) on_device.fetch();
                          return bits ? problem.check_bits(who) : problem.check_distance(who);
                        }});
  };
  const auto serial = [&](PrimitiveKind kind, const std::string& name, const PrimitiveTable& table) {
    add({.kind = kind, .name = name, .kernel = std::string(table.name)},
        [&problem, table] { table.xxt(problem.arguments(problem.y)); });
  };
  serial(PrimitiveKind::trivial, "three trivial loops", naive_primitives());
  try {
    // A part of the classic story, not worth the half minute that it takes for the larger matrix.
    if (times.steps < 2e8) serial(PrimitiveKind::unoptimised, "three trivial loops, -O0", naive_o0_primitives());
  } catch (const Error& error) {
    times.left_out.emplace_back(error.what());
  }
  const Kernel<LinearForward<float>> linear = make_table<float>(Backend::simd).linear_forward;
  for (const bool symmetric : {false, true})
    for (const int threads : options.threads)
      add({.kind = PrimitiveKind::simd,
           .name = symmetric ? "simd, symmetric" : "simd",
           .kernel = std::string(linear.name),
           .threads = threads,
           .symmetric = symmetric},
          [product = std::make_shared<TeamXxt>(linear, problem.arguments(problem.y), symmetric, threads)] {
            product->run();
          });
  const OpenBlas& blas = openblas();
  for (const int threads : options.threads) {
    if (!blas.loaded()) break;
    add({.kind = PrimitiveKind::library, .name = "library, sgemm", .kernel = "openblas", .threads = threads},
        [&blas, &problem, threads, rows = static_cast<int>(n), cols = static_cast<int>(k)] {
          blas.set_num_threads(threads);
          blas.sgemm(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, OpenBlas::kTranspose, rows, rows, cols, 1.0F,
                     problem.x.data(), cols, problem.x.data(), cols, 0.0F, problem.y.data(), rows);
          blas.set_num_threads(1);
        });
  }
  if (!blas.loaded()) times.left_out.emplace_back("library: no OpenBLAS (libopenblas0)");
  using Shape = DeviceXxt::Shape;
  const std::pair<Shape, std::string> shapes[] = {
      {Shape::one_block, fmt::format("device, one block of {} threads", kClassicBlock)},
      {Shape::elements, "device, full grid, a thread per element"},
      {Shape::tiles, "device, full grid, a tile per thread"}};
  for (const auto& [shape, name] : shapes) {
    if (!options.device) break;
    try {
      const std::int64_t blocks = on_device.run(shape);
      add({.kind = PrimitiveKind::device, .name = name, .kernel = options.device->info().backend, .blocks = blocks},
          [&on_device, form = shape] { on_device.run(form); });
    } catch (const Error& error) {
      times.left_out.emplace_back(error.what());
    }
  }
  finish_measuring(times, variants, measure_python("xxt", n, k, options.quick), options, limits, console);
  return times;
}

}  // namespace lockstep::cli
