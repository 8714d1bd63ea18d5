#include "lockstep/model/outputs.hpp"

#include <algorithm>

#include "lockstep/data/text_source.hpp"
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
    : model_(&model),
      logits_(logits_of(model.network, model.info.loss)),
      predictor_(logits_, options),
      names_(model.info.class_names) {
  if (!names_.empty() || !model.info.preparation || model.info.preparation->characters.empty()) return;
  const Vocabulary vocabulary(model.info.preparation->characters, "the model's vocabulary");
  for (std::int32_t token = 0; token < vocabulary.size(); ++token) names_.push_back(vocabulary.text(token));
}

std::vector<Answer> Outputs::answers(const Dataset& data, std::span<const std::int64_t> ids) {
  const std::vector<double> outputs = predictor_.run(data, ids);
  const auto width = static_cast<std::size_t>(logits_.output().elements());
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < ids.size(); ++i)
    answers.push_back(interpret(std::span(outputs).subspan(i * width, width), model_->info.loss));
  return answers;
}

std::int64_t Outputs::steps() const {
  const Shape& out = logits_.output();
  return out.rank() == 2 && model_->info.loss && is_of_softmax(*model_->info.loss) ? out[1] : 0;
}

std::vector<std::vector<Answer>> Outputs::step_answers(const Dataset& data, std::span<const std::int64_t> ids) {
  const std::vector<double> outputs = predictor_.run(data, ids);
  const auto classes = static_cast<std::size_t>(logits_.output()[0]), all = static_cast<std::size_t>(steps());
  std::vector<std::int64_t> lengths(ids.size(), steps());
  if (data.has_lengths()) data.lengths(ids, lengths);
  std::vector<std::vector<Answer>> answers(ids.size());
  std::vector<double> z(classes);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[i]); ++t) {
      for (std::size_t k = 0; k < classes; ++k) z[k] = outputs[(i * classes + k) * all + t];
      answers[i].push_back(interpret(z, model_->info.loss));
    }
  return answers;
}

std::string Outputs::name(std::int64_t k) const {
  return static_cast<std::size_t>(k) < names_.size() ? names_[static_cast<std::size_t>(k)] : std::to_string(k);
}

}  // namespace lockstep
