#include "lockstep/model/predictor.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/model/inference.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

Predictor::Predictor(const Network& network, PredictOptions options) {
  if (network.precision() == Precision::float32)
    engine_ = std::make_unique<Inference<float>>(network, options);
  else
    engine_ = std::make_unique<Inference<double>>(network, options);
}

Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

template <class T>
void Predictor::run_span(std::span<const T> x, std::span<T> y) {
  if (!raw_) return engine_->run(x, y);
  const std::shared_ptr<const Dataset> data = raw_->prepare(x);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(data->size()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  const std::vector<double> outputs = engine_->run(*data, ids);
  if (outputs.size() != y.size())
    throw Error(ExitCode::usage,
                fmt::format("predictor: {} samples have {} outputs, y holds {}", ids.size(), outputs.size(), y.size()));
  std::ranges::transform(outputs, y.begin(), [](double value) { return static_cast<T>(value); });
}

void Predictor::run(std::span<const float> x, std::span<float> y) { run_span(x, y); }
void Predictor::run(std::span<const double> x, std::span<double> y) { run_span(x, y); }
std::vector<double> Predictor::run(const Dataset& data, std::span<const std::int64_t> ids) {
  return engine_->run(data, ids);
}
const PredictOptions& Predictor::options() const { return engine_->options(); }

std::vector<double> predict(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                            Backend backend, int threads) {
  return Predictor(network, {.backend = backend, .threads = threads}).run(data, ids);
}

}  // namespace lockstep
