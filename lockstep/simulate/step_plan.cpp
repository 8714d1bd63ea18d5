#include "lockstep/simulate/step_plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"

namespace lockstep {

std::string plan_json(const StepPlan& plan) {
  return nlohmann::json{{"config", plan.config},
                        {"batch", plan.batch},
                        {"slots", plan.slots},
                        {"reduce", static_cast<int>(plan.parallel.reduce)},
                        {"tensor", plan.parallel.tensor},
                        {"pipeline", plan.parallel.pipeline},
                        {"schedule", static_cast<int>(plan.parallel.schedule)},
                        {"steps", plan.steps}}
      .dump();
}

StepPlan parse_plan(const std::string& json) {
  try {
    const auto value = nlohmann::json::parse(json);
    StepPlan plan;
    plan.config = value.at("config").get<std::string>();
    plan.batch = value.at("batch").get<std::int64_t>();
    plan.slots = value.at("slots").get<std::int64_t>();
    plan.parallel = {.reduce = static_cast<RankReduction>(value.at("reduce").get<int>()),
                     .tensor = value.at("tensor").get<int>(),
                     .pipeline = value.at("pipeline").get<int>(),
                     .schedule = static_cast<PipelineSchedule>(value.at("schedule").get<int>())};
    plan.steps = value.at("steps").get<int>();
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::usage, fmt::format("this is no plan of steps: {}", error.what()));
  }
}

RunConfig config_of(const StepPlan& plan) {
  RunConfig config = parse_config(plan.config, "plan");
  config.model.init_file.clear();
  config.train.batch = plan.batch;
  config.train.slots = plan.slots;
  config.train.parallel = plan.parallel;
  config.train.threads = 1;
  config.train.shuffle = false;
  // Labels that mean nothing must not make the weights grow without end.
  std::visit([](auto& optimizer) { optimizer.lr *= 1e-3; }, config.train.optimizer);
  return config;
}

}  // namespace lockstep
