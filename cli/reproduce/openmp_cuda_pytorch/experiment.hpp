#pragma once
// openmp-cuda-pytorch: one network serially, on OpenMP threads, on a device, by libraries and in PyTorch.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/timing.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

Experiment openmp_cuda_pytorch();

/// The network of the timings, 2-300-300-300-300-300-300-1, sigmoids throughout.
Network deep_network();
TrainOptions deep_options(Backend backend, int threads, std::int64_t batch);
std::shared_ptr<const Dataset> moon_points(std::int64_t count);

// What the lines of its results hold.

/// Series "moons".
struct MoonRecord {
  KernelRecord kernel{};
  double seconds = 0;
  std::optional<std::int64_t> reached_in_epoch{};  // 99 %; nothing: not reached
  std::vector<double> accuracy{};                  // by epoch
  static constexpr auto fields() {
    using R = MoonRecord;
    return std::make_tuple(part(&R::kernel), field("seconds", &R::seconds),
                           field("reached_in_epoch", &R::reached_in_epoch), field("accuracy", &R::accuracy));
  }
};
/// What a timing of the deep network has besides its kernels.
struct DeepWork {
  std::optional<std::int64_t> batch{}, points{};
  std::optional<int> processors{};
  static constexpr auto fields() {
    using R = DeepWork;
    return std::make_tuple(field("batch", &R::batch), field("points", &R::points), field("processors", &R::processors));
  }
};
/// Series "threads", "kinds", "batches".
struct DeepRecord {
  KernelRecord kernel{};
  DeepWork work{};
  static constexpr auto fields() { return std::make_tuple(part(&DeepRecord::kernel), part(&DeepRecord::work)); }
};
/// Seconds of an epoch by section; backward includes the loss.
struct EpochSections {
  std::optional<double> forward{}, backward{}, update{}, reduce{}, other{}, all{};
  static constexpr auto fields() {
    using R = EpochSections;
    return std::array{field("forward", &R::forward), field("backward", &R::backward), field("update", &R::update),
                      field("reduce", &R::reduce),   field("other", &R::other),       field("all", &R::all)};
  }
};
/// Series "sections".
struct SectionRecord {
  KernelRecord kernel{};
  EpochSections seconds{};
  static constexpr auto fields() {
    return std::make_tuple(part(&SectionRecord::kernel), part(&SectionRecord::seconds));
  }
};
/// Series "PyTorch": ours, and PyTorch's with its training on the moons.
struct PeerRecord {
  KernelRecord kernel{};
  std::optional<double> moons_epochs{}, moons_accuracy{}, moons_reached_in_epoch{}, moons_seconds{};
  std::string version{}, python{}, variant{}, tried{};
  static constexpr auto fields() {
    using R = PeerRecord;
    return std::make_tuple(
        part(&R::kernel), field("moons_epochs", &R::moons_epochs), field("moons_accuracy", &R::moons_accuracy),
        field("moons_reached_in_epoch", &R::moons_reached_in_epoch), field("moons_seconds", &R::moons_seconds),
        defaulted("version", &R::version), defaulted("python", &R::python), defaulted("variant", &R::variant),
        defaulted("tried", &R::tried));
  }
};
/// Series "forward through layer": shares of the outputs that are NaN or have a slope of 0.
struct LayerRecord {
  std::optional<double> largest_sum{}, published_nan{}, double_nan{}, double_slope_0{}, bounded_nan{};
  std::optional<double> bounded_slope_0{}, drawn_largest_sum{}, drawn_slope_0{};
  static constexpr auto fields() {
    using R = LayerRecord;
    return std::make_tuple(field("largest_sum", &R::largest_sum), field("published_nan", &R::published_nan),
                           field("double_nan", &R::double_nan), field("double_slope_0", &R::double_slope_0),
                           field("bounded_nan", &R::bounded_nan), field("bounded_slope_0", &R::bounded_slope_0),
                           field("drawn_largest_sum", &R::drawn_largest_sum),
                           field("drawn_slope_0", &R::drawn_slope_0));
  }
};
/// Series "trained from weights".
struct TrainedRecord {
  std::int64_t epochs = 0;
  std::optional<double> accuracy{}, loss{};
  std::string diverged{};  // why it was stopped; empty: it was not
  static constexpr auto fields() {
    using R = TrainedRecord;
    return std::make_tuple(field("epochs", &R::epochs), field("accuracy", &R::accuracy), field("loss", &R::loss),
                           defaulted("diverged", &R::diverged));
  }
};
using MoonLine = Line<MoonRecord>;
using DeepLine = Line<DeepRecord>;
using SectionLine = Line<SectionRecord>;
using PeerLine = Line<PeerRecord>;

// Names of the series of results.
inline constexpr const char *kMoonCurves = "moons", *kThreadTimes = "threads", *kKindTimes = "kinds",
                            *kSectionTimes = "sections", *kBatchTimes = "batches", *kPeerTimes = "PyTorch",
                            *kLayers = "forward through layer", *kTrained = "trained from weights";

// Parts of measuring: peer.cpp, nan.cpp.
void time_pytorch(const ExperimentRun& run);
void measure_not_a_number(const ExperimentRun& run);

/// The epochs on moons, for Lockstep and for PyTorch alike.
std::int64_t moon_epochs();

std::vector<Claim> openmp_claims();

// The parts of the report.
void describe_moons(const Findings& findings, report::Document& document);
void describe_threads(const Findings& findings, report::Document& document);
void describe_sections(const Findings& findings, report::Document& document);
void describe_batches(const Findings& findings, report::Document& document);
void describe_pytorch(const Findings& findings, report::Document& document);
void describe_not_a_number(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
