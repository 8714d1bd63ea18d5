#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment conv_multicore();

/// The part of this rank, under mpirun: `runs` passes over its share of the kernels. Rank 0 prints the seconds of the
/// slowest rank of each. `data`: the picture of --data; empty: none.
void run_conv_rank(int runs, const std::string& data, Console& console);

/// The line "picture": which file it was; none: scrambled numbers.
struct PictureRecord {
  std::string file{};
  std::int64_t width = 0, height = 0;
  static constexpr auto fields() {
    using R = PictureRecord;
    return std::make_tuple(field("file", &R::file), field("width", &R::width), field("height", &R::height));
  }
};
/// Series "threads", "ranks", "plain loops": seconds per image by workers.
struct WorkersRecord {
  int workers = 1;                   // threads or ranks
  std::optional<double> computed{};  // of the 128 kernels; the times are scaled to all
  std::string backend{};
  static constexpr auto fields() {
    using R = WorkersRecord;
    return std::make_tuple(defaulted("workers", &R::workers), field("kernels", &R::computed),
                           defaulted("backend", &R::backend));
  }
};
/// Series "software": ours first, then other programs.
struct SoftwareRecord {
  int workers = 1;
  std::optional<double> largest_difference{};
  std::string version{}, python{}, variant{}, tried{};  // of another program
  static constexpr auto fields() {
    using R = SoftwareRecord;
    return std::make_tuple(defaulted("workers", &R::workers), field("largest_difference", &R::largest_difference),
                           defaulted("version", &R::version), defaulted("python", &R::python),
                           defaulted("variant", &R::variant), defaulted("tried", &R::tried));
  }
};
using WorkersLine = Line<WorkersRecord>;
using SoftwareLine = Line<SoftwareRecord>;

inline constexpr const char *kConvPicture = "picture", *kConvThreads = "threads", *kConvRanks = "ranks",
                            *kConvNaive = "plain loops", *kConvPeers = "software";

/// How many times as fast it is on `to` workers as on `from`; nothing: one of them was not measured.
std::optional<Comparison> conv_speed_up(const std::vector<WorkersLine>& results, int from, int to);

std::vector<Claim> conv_claims();
void describe_conv(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
