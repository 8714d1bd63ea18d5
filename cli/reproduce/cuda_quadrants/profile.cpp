// Where the time of cuda-quadrants goes, by the spans of our own trainer.

#include "lockstep/lab/profile.hpp"
#include "cli/reproduce/cuda_quadrants/parts.hpp"

namespace lockstep::cli {

namespace {

std::string section_of(const SectionName& section) {
  const bool back = section.phase == "backward";
  if (section.name.find("linear") != std::string::npos) return back ? "linear backward" : "linear forward";
  if (section.name.find("relu") != std::string::npos) return back ? "relu backward" : "relu forward";
  if (section.name.find("sigmoid") != std::string::npos || section.name == "loss") return "sigmoid and loss";
  if (section.name == "update") return "linear backward";
  if (section.name == "load" || section.name == "reduce") return section.name;
  return "other";
}

SectionShares measure_shares(const QuadrantData& data, Backend backend, std::int64_t epochs) {
  Network network = published_quadrant_network();
  Profile profile;
  Trainer trainer(network, quadrant_options(backend, 1));
  trainer.fit(*data.train, {.epochs = epochs, .profile = &profile});
  SectionShares shares;
  for (const ProfileRow& row : profile_rows(profile)) shares[section_of(row.section)] += row.share;
  return shares;
}

}  // namespace

void profile_quadrants(const ExperimentRun& run, const QuadrantData& data) {
  const auto record = [&](const std::string& name, const SectionShares& shares) {
    run.record(std::string(kQuadrantShares) + ": " + name, shares);
  };
  if (const auto counted = callgrind_shares(run)) record("-O0, instructions", *counted);
  run.progress("where the time goes: spans");
  record("plain loops -O0", measure_shares(data, Backend::naive_o0, 1));
  record("plain loops -O3", measure_shares(data, Backend::naive, run.quick ? 1 : 5));
  record("SIMD", measure_shares(data, Backend::simd, run.quick ? 5 : 20));
}

}  // namespace lockstep::cli
