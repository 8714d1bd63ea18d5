#include "cli/ladder/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr double kPeerStartLimit = 180;              // imports and compilation
constexpr std::chrono::milliseconds kPeerRest{500};  // the threads of a peer spin on for a while after its turn
constexpr int kProbeBatches = 16;
constexpr int kWantedSamples = 6;
constexpr double kShortestEpoch = 0.15, kLongestEpoch = 8;
constexpr double kSlow = 4;       // times the epoch of simd: measured on fewer samples
constexpr int kCheckBatches = 2;  // that every rung trains first; few, because plain loops are slow
constexpr int kStages = 5;
constexpr double kMachineSeconds = 5, kPeerSeconds = 15;  // expected: shown before a stage begins

CeilingsRecord measure_ceilings(Precision precision) {
  const Scalar scalar = precision == Precision::float32 ? Scalar::float32 : Scalar::float64;
  CeilingsRecord c{.threads = available_cpus()};
  c.flops_one = measure_fma_peak(scalar, 1);
  c.flops_all = c.threads > 1 ? measure_fma_peak(scalar, c.threads) : c.flops_one;
  c.bandwidth_one = measure_memory_bandwidth(1);
  c.bandwidth_all = c.threads > 1 ? measure_memory_bandwidth(c.threads) : c.bandwidth_one;
  return c;
}

class LadderRun {
 public:
  LadderRun(const LadderArguments& arguments, Console& console, const Stopped& stopped, const KeepMeasurement& keep)
      : arguments_(arguments), console_(console), stopped_(stopped), keep_(keep) {}

  LadderMeasurement run() {
    prepare();
    try {
      probe();
      sample();
      profile();
      curve();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::preempted) throw;
    }
    ladder_.stopped = stopped_();
    std::erase_if(ladder_.rungs, [](const RungMeasurement& each) { return each.sampled.samples.empty(); });
    console_.draw("");
    return std::move(ladder_);
  }

 private:
  void prepare() {
    ladder_.config = load_config(arguments_.config, arguments_.set);
    ladder_.epoch_samples = load_data(ladder_.config.data).train->size();
    ladder_.setting = setting_of(ladder_.config, ladder_.epoch_samples);
    ladder_.setting.config = arguments_.config;
    ladder_.setting.set = arguments_.set;
    ladder_.setting.stopped = stopped_;
    ladder_.setting.scratch = scratch_.emplace("ladder").path();
    stage("measuring the machine: arithmetic, memory, one training", kMachineSeconds);
    ladder_.ceilings = measure_ceilings(ladder_.config.model.precision);
  }

  /// Samples of the whole batches that hold about `samples`: at least one batch, at most an epoch.
  std::int64_t whole_batches(double samples) const {
    const std::int64_t batch = ladder_.setting.batch;
    const auto batches = std::max<std::int64_t>(static_cast<std::int64_t>(samples / double(batch)), 1);
    return std::min(batches * batch, ladder_.epoch_samples);
  }

  /// What happens next, and how long it is expected to take.
  void stage(const std::string& what, double seconds) {
    const double whole = std::ceil(seconds);
    console_.note(fmt::format("{}/{} {}: about {}", ++stage_, kStages, what,
                              whole < 60 ? fmt::format("{:.0f} s", whole) : duration(whole)));
  }

  void leave_out(const Rung& rung, std::string why) {
    // A training names its configuration first, which is the same for all.
    if (const std::string file = ladder_.config.name + ": "; why.starts_with(file)) why.erase(0, file.size());
    console_.note(fmt::format("left out: {}: {}", rung.title, why));
    ladder_.left_out.push_back({rung, why});
  }

  /// Which rungs run here, how fast, and so on how many samples each is measured.
  void probe() {
    const std::vector<Rung> rungs = chosen_rungs(all_rungs(available_cpus(), backend_names()), arguments_.rungs);
    const std::int64_t part = whole_batches(double(kProbeBatches * ladder_.setting.batch));
    const Turn& first = reference_.on(part);
    const double rate = double(part) / first.seconds;
    start_seconds_ = std::max(first.wall - 2 * first.seconds, 0.0);
    ladder_.check_samples = whole_batches(double(kCheckBatches * ladder_.setting.batch));
    const auto peers = std::count_if(rungs.begin(), rungs.end(), [](const Rung& rung) { return rung.is_peer(); });
    stage(fmt::format("checking {} rungs: each trains the same {} samples", rungs.size(), ladder_.check_samples),
          double(rungs.size()) * first.wall + (find_peers() ? kPeerSeconds * double(peers) : 0));
    // Of a turn: two epochs, and starting and ending the process.
    // Half of the budget: rungs with several workers take twice as long, and starting up varies.
    const double turn = 0.5 * arguments_.budget / double(kWantedSamples) / double(rungs.size());
    const double epoch = std::clamp((turn - start_seconds_) / 2, kShortestEpoch, kLongestEpoch);
    const std::int64_t usual = whole_batches(epoch * rate);
    for (const Rung& rung : rungs) {
      console_.draw(fmt::format("ladder: trying {}", rung.title));
      if (rung.is_peer())
        probe_peer(rung, usual);
      else
        probe_rung(rung, usual, epoch);
    }
    if (arguments_.rungs.empty())
      for (const LeftOutRung& each : missing_groups(rungs, available_cpus())) leave_out(each.rung, each.why);
    if (ladder_.rungs.empty()) throw Error(ErrorCode::usage, "ladder: none of the chosen rungs runs here");
  }

  void probe_rung(const Rung& rung, std::int64_t usual, double epoch) {
    try {
      const Turn turn = run_turn(rung, ladder_.setting, ladder_.check_samples, kTurnLimit);
      const double rate = double(ladder_.check_samples * rung.growth) / turn.seconds;
      const int share = share_of(rung, ladder_.ceilings.threads);
      // The check is two steps: enough to know plain loops, but one delay of a thread or rank would make workers look
      // slow, and be measured on few samples, where the ends of an epoch weigh more.
      const bool slow = share == 1 && double(usual) / rate > kSlow * epoch && rung.group != RungGroup::weak;
      std::int64_t samples = slow ? std::min(whole_batches(epoch * rate), usual) : whole_batches(double(usual * share));
      if (rung.group == RungGroup::weak)
        samples =
            std::min(samples, ladder_.epoch_samples / rung.growth / ladder_.setting.batch * ladder_.setting.batch);
      if (samples == 0) return leave_out(rung, "the data are too few to grow with the workers");
      RungMeasurement measured{.rung = rung, .samples = samples, .check = turn};
      reference_.compare(measured, measured.check, ladder_.check_samples);
      if (slow) reference_.on(samples);
      ladder_.rungs.push_back(std::move(measured));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::preempted) throw;
      leave_out(rung, error.what());
    }
  }

  void probe_peer(const Rung& rung, std::int64_t samples) {
    const auto place = find_peers();
    if (!place) return leave_out(rung, "not installed (make peers)");
    std::string why;
    const auto workload = peer_workload(ladder_.config, samples, why);
    if (!workload) return leave_out(rung, why);
    try {
      auto peer = std::make_unique<PeerRung>(*place, rung, *workload, kPeerStartLimit, stopped_);
      ladder_.rungs.push_back(
          {.rung = rung, .samples = samples, .mark = WeightMark::own_weights, .version = peer->version()});
      peers_[rung.id] = std::move(peer);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::preempted) throw;
      leave_out(rung, error.what());
    }
  }

  double sample_once(RungMeasurement& measured) {
    console_.draw(fmt::format("ladder: turn {}, {}", turns_ + 1, measured.rung.title));
    if (peer_was_last_) std::this_thread::sleep_for(kPeerRest);
    peer_was_last_ = measured.rung.is_peer();
    const double seconds = measured.rung.is_peer() ? run_peer(measured) : run_rung(measured);
    measured.turns.push_back(++turns_);
    return seconds;
  }

  double run_peer(RungMeasurement& measured) {
    const PeerAnswer answer = peers_.at(measured.rung.id)->run(kTurnLimit);
    measured.last.accuracy = answer.accuracy;
    measured.last.loss = answer.loss;
    return answer.seconds;
  }

  double run_rung(RungMeasurement& measured) {
    const double limit = kTurnLimit + 20 * measured.last.wall;
    measured.last = run_turn(measured.rung, ladder_.setting, measured.samples, limit);
    reference_.compare(measured, measured.last, measured.samples);
    return measured.last.seconds;
  }

  void compare_peer(RungMeasurement& measured) {
    console_.draw(fmt::format("ladder: comparing the weights of {}", measured.rung.title));
    try {
      reference_.compare_peer(measured, *peers_.at(measured.rung.id));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::preempted) throw;
      console_.note(fmt::format("weights of {} not compared: {}", measured.rung.title, error.what()));
    }
  }

  void keep_round(const std::vector<SampledResult>& results) {
    LadderMeasurement so_far = ladder_;
    for (std::size_t i = 0; i < results.size(); ++i) so_far.rungs[i].sampled = results[i];
    std::erase_if(so_far.rungs, [](const RungMeasurement& each) { return each.sampled.samples.empty(); });
    if (!so_far.rungs.empty()) keep_(so_far);
  }

  void sample() {
    for (const RungMeasurement& each : ladder_.rungs)
      if (!each.rung.is_peer() && each.rung.group != RungGroup::weak) reference_.on(each.samples);
    std::vector<SampledVariant> variants;
    // The first epoch of every turn warms up; a peer lives on between its turns, and its first one does.
    for (RungMeasurement& measured : ladder_.rungs)
      variants.push_back(
          {measured.rung.id, [this, &measured] { return sample_once(measured); }, measured.rung.is_peer() ? 1 : 0});
    stage(fmt::format("measuring {} rungs in turns", ladder_.rungs.size()), arguments_.budget);
    const SamplingRule rule{.share = arguments_.share,
                            .least = std::min(kWantedSamples, arguments_.samples),
                            .most = arguments_.samples,
                            .budget_seconds = arguments_.budget,
                            .after_round = [this](const auto& results) { keep_round(results); },
                            .stopped = stopped_};
    std::vector<SampledResult> results = sample_in_turns(variants, rule);
    for (RungMeasurement& measured : ladder_.rungs)
      if (measured.rung.is_peer() && measured.last.accuracy && !stopped_()) compare_peer(measured);
    peers_.clear();
    for (std::size_t i = 0; i < results.size(); ++i) ladder_.rungs[i].sampled = std::move(results[i]);
    std::erase_if(ladder_.rungs, [&](const RungMeasurement& each) {
      if (!each.sampled.samples.empty()) return false;
      if (each.sampled.end == SamplingEnd::failed) leave_out(each.rung, each.sampled.failure);
      return true;
    });
  }

  /// One more turn of every rung, with spans: they say where the time goes, and their times are not used.
  void profile() {
    double seconds = 0;
    for (const RungMeasurement& each : ladder_.rungs) seconds += each.last.wall;
    stage("looking where the time of each rung goes", seconds);
    for (RungMeasurement& measured : ladder_.rungs) {
      if (measured.rung.is_peer()) continue;
      console_.draw(fmt::format("ladder: spans of {}", measured.rung.title));
      try {
        measured.profile = run_turn(measured.rung, ladder_.setting, measured.samples, kTurnLimit, true).profile;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::preempted) throw;
        console_.note(fmt::format("no spans of {}: {}", measured.rung.title, error.what()));
      }
    }
  }

  /// The training as the configuration has it, on the fastest rung that keeps the promise.
  void curve() {
    const CurvePlan plan = plan_curve(ladder_);
    if (plan.rung == nullptr) return;
    if (plan.epochs < 1) return console_.note("no curve of loss and accuracy: an epoch takes too long");
    stage(fmt::format("training {} of {} epochs in full on {}", plan.epochs, ladder_.config.epochs,
                      plan.rung->rung.title),
          plan.seconds + start_seconds_);
    if (const std::string why = train_curve(plan, stopped_, ladder_); !why.empty())
      console_.note(fmt::format("no curve of loss and accuracy: {}", why));
  }

  const LadderArguments& arguments_;
  Console& console_;
  const Stopped& stopped_;
  const KeepMeasurement& keep_;
  std::optional<TemporaryFolder> scratch_;  // the run directories of all turns
  LadderMeasurement ladder_{};
  WeightReference reference_{ladder_};
  std::map<std::string, std::unique_ptr<PeerRung>> peers_;
  int turns_ = 0, stage_ = 0;
  double start_seconds_ = 0;  // of a turn: starting and ending the process, reading the data
  bool peer_was_last_ = false;
};

}  // namespace

LadderMeasurement measure_rungs(const LadderArguments& arguments, Console& console, const Stopped& stopped,
                                const KeepMeasurement& keep) {
  return LadderRun(arguments, console, stopped, keep).run();
}

}  // namespace lockstep::cli
