#pragma once
// The sections of a run's report that show what was learned.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

struct RunAnswers;

/// Confusion matrix, scores of classes, worst mistakes, regions of classes, predictions beside the truth.
void add_answers(report::Document& document, const RunAnswers& answers);
/// The filters of the first layer before and after training.
void add_filters(report::Section& section, const RunAnswers& answers);

/// A row of profile.json that belongs to a layer.
struct ProfiledLayer {
  std::string section{}, phase{};
  double seconds = 0, share = 0;
  std::optional<double> peak_share{};
};
/// Nothing without the file, or where the training was on a device: then spans wait for it. Error(data) for a damaged
/// one.
std::vector<ProfiledLayer> read_profile(const std::filesystem::path& path);

/// The layers as blocks; `profile` gives their shares of the time of all layers.
report::NetworkDrawing network_drawing(const Network& network, const std::vector<ProfiledLayer>& profile);
/// Time and share of the machine's peak of every layer, forward and backward.
void add_profile(report::Section& section, const std::vector<ProfiledLayer>& profile);

}  // namespace lockstep
