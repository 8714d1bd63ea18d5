// Where the time of cuda-quadrants goes, by the spans of our own trainer.

#include "lockstep/lab/profile.hpp"
#include "cli/reproduce/cuda_quadrants/parts.hpp"

namespace lockstep::cli {

namespace {

SectionMember section_of(const SectionName& section) {
  using S = SectionShares;
  const bool back = section.phase == "backward";
  if (section.name.find("linear") != std::string::npos) return back ? &S::linear_backward : &S::linear_forward;
  if (section.name.find("relu") != std::string::npos) return back ? &S::relu_backward : &S::relu_forward;
  if (section.name.find("sigmoid") != std::string::npos || section.name == "loss") return &S::sigmoid_and_loss;
  if (section.name == "update") return &S::linear_backward;
  return section.name == "load" ? &S::load : section.name == "reduce" ? &S::reduce : &S::other;
}

SectionShares measure_shares(const QuadrantData& data, Backend backend, std::int64_t epochs) {
  Network network = published_quadrant_network();
  Profile profile;
  Trainer trainer(network, quadrant_options(backend, 1));
  trainer.fit(*data.train, {.epochs = epochs, .profile = &profile});
  SectionShares shares;
  for (const ProfileRow& row : profile_rows(profile)) {
    std::optional<double>& share = shares.*section_of(row.section);
    share = share.value_or(0) + row.share;
  }
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
