#include "lockstep/model/outputs.hpp"

#include <algorithm>

#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep {

namespace {

/// The network without a final softmax or sigmoid that the loss contains: what is left gives logits, which do not tie
/// where probabilities round to 1. Those layers have no parameters, so the vector stays the same.
Network logits_of(const Network& network, std::optional<Loss> loss) {
  if (network.layers().empty()) return network;
  const LayerSpec& last = network.layers().back();
  const bool softmax = loss && is_of_softmax(*loss) && std::holds_alternative<Softmax>(last.kind);
  const bool sigmoid = loss == Loss::binary_cross_entropy && std::holds_alternative<Sigmoid>(last.kind);
  if (!softmax && !sigmoid) return network;
  Network logits(network.input(), network.precision());
  for (std::size_t i = 0; i + 1 < network.layers().size(); ++i) logits.add(network.layers()[i]);
  logits.values() = network.values();
  return logits;
}

std::vector<double> softmax(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> out;
  double sum = 0;
  for (const double z : logits) sum += out.emplace_back(math::exp(z - largest));
  for (double& p : out) p /= sum;
  return out;
}

Answer interpret(std::span<const double> z, std::optional<Loss> loss) {
  Answer answer{.values = {z.begin(), z.end()}};
  answer.best = std::max_element(z.begin(), z.end()) - z.begin();
  if (loss && is_of_softmax(*loss)) answer.values = softmax(z);
  if (loss == Loss::binary_cross_entropy) {
    if (z.size() == 1) {
      answer.best = z[0] >= 0 ? 1 : 0;
      answer.values = {math::sigmoid(-z[0]), math::sigmoid(z[0])};
    } else {
      for (double& value : answer.values) value = math::sigmoid(value);
    }
  }
  if (loss && is_of_values(*loss) && z.size() == 1) answer.best = z[0] >= 0.5 ? 1 : 0;
  return answer;
}

}  // namespace

Outputs::Outputs(const Model& model, const PredictOptions& options)
    : model_(&model), logits_(logits_of(model.network, model.info.loss)), predictor_(logits_, options) {}

std::vector<Answer> Outputs::answers(const Dataset& data, std::span<const std::int64_t> ids) {
  const std::vector<double> outputs = predictor_.run(data, ids);
  const auto width = static_cast<std::size_t>(logits_.output().elements());
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < ids.size(); ++i)
    answers.push_back(interpret(std::span(outputs).subspan(i * width, width), model_->info.loss));
  return answers;
}

std::string Outputs::name(std::int64_t k) const {
  const auto& names = model_->info.class_names;
  return static_cast<std::size_t>(k) < names.size() ? names[static_cast<std::size_t>(k)] : std::to_string(k);
}

}  // namespace lockstep
