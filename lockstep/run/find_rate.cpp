#include "lockstep/run/find_rate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/run/workload.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kSteps = 100;
constexpr double kLowest = 1e-6, kHighest = 10, kTooFar = 4, kNewest = 0.1;

/// Ends the training of a curve.
struct Enough {};

double rate_of(std::int64_t step) {
  return kLowest * math::exp(math::log(kHighest / kLowest) * (double(step) / double(kSteps - 1)));
}

}  // namespace

std::optional<double> steepest_rate(const std::vector<RateTrial>& points) {
  std::optional<double> best;
  double fall = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i)
    if (const double here = points[i - 1].smooth - points[i + 1].smooth; here > fall) {
      fall = here;
      best = points[i].rate;
    }
  return best;
}

RateCurve find_rate(const std::string& config, const RunOptions& options) {
  if (const auto launcher = find_launcher())
    throw Error(ErrorCode::usage,
                fmt::format("the learning rate is looked for by one process, and {} started {}; the rate "
                            "is the same on any number of ranks",
                            launcher->name, launcher->size));
  Ranks alone(make_self_transport());
  RunObserver silent;
  RunObserver& observer = options.observer != nullptr ? *options.observer : silent;
  Workload work(config, options, alone);
  work.load(observer);
  const Dataset& data = *work.data.train;
  const std::int64_t batch = work.config.train.batch > 0 ? work.config.train.batch : data.size();
  const std::int64_t steps = (data.size() + batch - 1) / batch;
  RateCurve curve;
  double mean = 0, share = 0, least = 0;
  const auto on_step = [&](const StepReport& report) {
    mean += kNewest * (report.batch_loss - mean);
    share += kNewest * (1 - share);
    const double smooth = mean / share;
    curve.points.push_back({rate_of(std::ssize(curve.points)), report.batch_loss, smooth});
    least = curve.points.size() == 1 ? smooth : std::min(least, smooth);
    if (std::ssize(curve.points) == kSteps || smooth > kTooFar * least || (options.stop && options.stop()))
      throw Enough{};
  };
  try {
    work.trainer.fit(data, {.epochs = (kSteps + steps - 1) / steps,
                            .validation = work.data.validation.get(),
                            .rate = rate_of,
                            .on_step = on_step});
  } catch (const Enough&) {
  } catch (const Error& error) {
    if (error.code() != ErrorCode::diverged) throw;
  }
  curve.suggestion = steepest_rate(curve.points);
  return curve;
}

std::string RateCurve::text() const {
  constexpr std::size_t kRows = 20;
  TextTable table("rrr");
  table.row({"learning rate", "loss", "smooth"});
  const std::size_t step = std::max<std::size_t>(1, (points.size() + kRows - 1) / kRows);
  for (std::size_t i = 0; i < points.size(); i += step)
    table.row({fmt::format("{:.2e}", points[i].rate), loss_text(points[i].loss), loss_text(points[i].smooth)});
  const std::string advice =
      suggestion ? fmt::format("suggestion: train.optimizer.lr = {:.1e}, where the loss falls fastest", *suggestion)
                 : "the loss fell nowhere: is the data scaled, and does the network fit it?";
  return fmt::format("{}\n{}\n", table.str(), advice);
}

std::string RateCurve::json() const {
  nlohmann::ordered_json json = {{"points", nlohmann::ordered_json::array()}};
  for (const RateTrial& point : points)
    json["points"].push_back({{"lr", point.rate}, {"loss", point.loss}, {"smooth", point.smooth}});
  if (suggestion) json["suggestion"] = *suggestion;
  return fmt::format("{}\n", json.dump());
}

}  // namespace lockstep
