#include "lockstep/model/text_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep {

namespace {

constexpr std::uint32_t kTextStream = 1000;  // beside the streams of the generators of data

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("the model writes no text: {}", what));
}

/// What a layer sees of later steps would be missing, or would change what was written.
void require_causal(const std::vector<LayerPlan>& plans) {
  for_each_layer(plans, [](const LayerPlan& plan) {
    const bool both = std::visit(
        [](const auto& layer) {
          if constexpr (requires { layer.bidirectional; }) return layer.bidirectional;
          if constexpr (requires { layer.causal; }) return !layer.causal;
          return false;
        },
        plan.spec.kind);
    if (both) refuse(fmt::format("layer {} ({}) sees the steps that follow", plan.path, layer_type(plan.spec)));
  });
}

Vocabulary vocabulary_of(const Model& model) {
  const bool text = model.info.preparation && !model.info.preparation->vocabulary.empty();
  if (!text) refuse("it was not trained on text (data.vocabulary)");
  const DataConfig& data = *model.info.preparation;
  return data.vocabulary == "bytes" ? Vocabulary() : Vocabulary(data.characters, "the model's vocabulary");
}

}  // namespace

TextModel::TextModel(const Model& model, const PredictOptions& options)
    : model_(model), predictor_(model.network, options), vocabulary_(vocabulary_of(model)) {
  const Shape &in = model.network.input(), &out = model.network.output();
  if (in.rank() != 1 || out.rank() != 2 || out[1] != in[0] || out[0] < vocabulary_.size())
    refuse(fmt::format("it gives {} for {}, and not a number per token and step", out.str(), in.str()));
  require_causal(model.network.plans());
}

void TextModel::begin(std::string_view prompt, std::uint64_t seed) {
  if (prompt.empty()) throw Error(ErrorCode::data, "the prompt is empty; give at least one character");
  tokens_ = vocabulary_.tokens(prompt, "prompt");
  seed_ = seed;
  drawn_ = 0;
}

/// The steps behind the text are 0: no step before them sees them.
std::vector<double> TextModel::logits() {
  const std::int64_t steps = model_.network.input()[0];
  if (std::ssize(tokens_) > steps) tokens_.erase(tokens_.begin(), tokens_.end() - steps);
  const auto run = [&]<class T>(T) {
    std::vector<T> x(static_cast<std::size_t>(steps)), y(static_cast<std::size_t>(model_.network.output().elements()));
    std::copy(tokens_.begin(), tokens_.end(), x.begin());
    predictor_.run(std::span<const T>(x), std::span<T>(y));
    std::vector<double> last;
    for (std::int64_t k = 0; k < vocabulary_.size(); ++k)
      last.push_back(double(y[static_cast<std::size_t>(k * steps + std::ssize(tokens_) - 1)]));
    return last;
  };
  return model_.network.precision() == Precision::float32 ? run(float{}) : run(double{});
}

std::string TextModel::next(double temperature) {
  std::vector<double> z = logits();
  const auto largest = std::ranges::max_element(z);
  auto token = static_cast<std::int32_t>(largest - z.begin());
  const RandomKey key{.seed = seed_, .purpose = Purpose::data, .layer = kTextStream};
  const double u = uniform(key, drawn_++);
  if (temperature > 0) {
    const double most = *largest;
    double sum = 0;
    for (double& each : z) {
      each = math::exp((each - most) / temperature);
      sum += each;
    }
    double before = 0;
    for (std::size_t k = 0; k < z.size(); ++k) {
      before += z[k];
      if (before <= u * sum) continue;
      token = static_cast<std::int32_t>(k);
      break;
    }
  }
  tokens_.push_back(token);
  return vocabulary_.text(token);
}

}  // namespace lockstep
