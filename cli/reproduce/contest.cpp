#include "cli/reproduce/contest.hpp"

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

Variant* TrainingContest::add(const std::string& name, Network network, const TrainOptions& options) {
  try {
    auto training = std::make_unique<Training>(std::move(network), options);
    const std::string hash = training->trainer.fit(*data_, {.epochs = 1}).back().weight_hash;
    variants_.push_back({.line = timing_of(name, kernel_record(options.backend, options.threads), hash),
                         .body = [trainer = &training->trainer, data = data_] { trainer->fit(*data, {.epochs = 1}); }});
    trainings_.push_back(std::move(training));
    return &variants_.back();
  } catch (const Error& error) {
    run_.left_out(name, error.what());
    return nullptr;
  }
}

}  // namespace lockstep::cli
