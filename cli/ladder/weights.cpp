#include "cli/ladder/measurement.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/model/model_file.hpp"

namespace lockstep::cli {

namespace {

const Rung kReference{"reference", "SIMD kernels, 1 thread", RungGroup::simd, "simd"};

double largest_difference(const Network& a, const Network& b) {
  return std::visit(
      [&](const auto& x) {
        const auto& y = std::get<std::decay_t<decltype(x)>>(b.values());
        double largest = 0;
        for (decltype(x.size()) i = 0; i < std::min(x.size(), y.size()); ++i)
          largest = std::max(largest, std::abs(double(x[i]) - double(y[i])));
        return largest;
      },
      a.values());
}

}  // namespace

const Turn& WeightReference::on(std::int64_t samples) {
  auto found = turns_.find(samples);
  if (found == turns_.end())
    found = turns_.emplace(samples, run_turn(kReference, ladder_.setting, samples, kTurnLimit)).first;
  return found->second;
}

void WeightReference::compare(RungMeasurement& rung, const Turn& turn, std::int64_t samples) {
  if (rung.rung.group == RungGroup::weak) {
    rung.mark = WeightMark::other_training;
    return;
  }
  const Turn& reference = on(samples);
  if (turn.weight_hash == reference.weight_hash) {
    if (!rung.mark) rung.mark = WeightMark::same;
    return;
  }
  if (rung.mark != WeightMark::differs)
    rung.largest_difference = largest_difference(load_model(turn.model).network, load_model(reference.model).network);
  rung.mark = WeightMark::differs;
}

void WeightReference::compare_peer(RungMeasurement& rung, PeerRung& peer) const {
  for (const LayerSpec& layer : ladder_.config.model.layers)
    if (std::holds_alternative<BatchNorm>(layer.kind)) return;  // peers: statistics of the batch, ours: of the slot
  const std::filesystem::path folder = ladder_.setting.scratch / rung.rung.id;
  std::filesystem::create_directories(folder);
  const auto weights = peer.weights(folder.string(), kTurnLimit);
  Rung reference = kReference;
  reference.id += "-" + rung.rung.id;
  TurnSetting setting = ladder_.setting;
  setting.set.emplace_back("train.shuffle=false");
  setting.set.push_back(fmt::format("model.init=\"{}\"", weights.initial));
  const Turn ours = run_turn(reference, setting, rung.samples, kTurnLimit);
  RunConfig theirs = ladder_.config;
  theirs.model.init_file = weights.trained;
  rung.largest_difference = largest_difference(load_model(ours.model).network, make_network(theirs));
  rung.mark = WeightMark::differs;
}

}  // namespace lockstep::cli
