#include "lockstep/train/predictor.hpp"

#include "lockstep/train/inference.hpp"
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

void Predictor::run(std::span<const float> x, std::span<float> y) { engine_->run(x, y); }
void Predictor::run(std::span<const double> x, std::span<double> y) { engine_->run(x, y); }
std::vector<double> Predictor::run(const Dataset& data, std::span<const std::int64_t> ids) {
  return engine_->run(data, ids);
}
const PredictOptions& Predictor::options() const { return engine_->options(); }

std::vector<double> predict(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                            Backend backend, int threads) {
  return Predictor(network, {.backend = backend, .threads = threads}).run(data, ids);
}

}  // namespace lockstep
