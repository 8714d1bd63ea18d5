#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Whose statistics normalise in training.
enum class NormOver { slot, batch };
constexpr Described describe(NormOver over) {
  switch (over) {
    case NormOver::slot:
      return {"slot", "no communication"};
    case NormOver::batch:
      return {"batch", "workers meet three times per layer and step"};
  }
  return {};
}

/// Per channel of [channels,height,width] or per feature of [features]; see kernels/batch_norm.hpp.
/// running = (1 - momentum) * running + momentum * statistics of the batch.
struct BatchNorm {
  double momentum = 0.1;
  double eps = 1e-5;
  NormOver over = NormOver::slot;

  static constexpr const char* kName = "batch_norm";
  static constexpr const char* kHelp = "normalises each channel by the statistics of the slot, or of the batch";
  static constexpr auto fields() {
    return std::tuple{
        field("momentum", &BatchNorm::momentum, kShare, "weight of a batch in the running statistics"),
        field("eps", &BatchNorm::eps, kPositive, "added to the variance"),
        field("over", &BatchNorm::over, "`slot`, or `batch`: exact, and workers meet in the middle of a step").quiet()};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

/// How many of these layers, those inside residual blocks included, need sums over the batch.
std::int64_t batch_wide_layers(const std::vector<LayerPlan>& plans);
/// How often a worker calls BatchSum::add_up for each of them in a step: mean, variance; gradients.
inline constexpr std::int64_t kBatchSumsPerLayer = 3;

}  // namespace lockstep
