#include "cli/ladder/climb.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "cli/ladder/curve.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr double kProbeLimit = 120;                  // seconds: a rung that does not train one batch in it is left out
constexpr double kPeerStartLimit = 180;              // imports and compilation
constexpr std::chrono::milliseconds kPeerRest{500};  // its threads spin on for a while; nobody shall share with them
constexpr int kProbeBatches = 16;
constexpr int kWantedSamples = 6;
constexpr double kShortestEpoch = 0.15, kLongestEpoch = 8;
constexpr double kSlow = 4;       // times the epoch of simd: measured on fewer samples
constexpr int kCheckBatches = 2;  // that every rung trains first: few, for plain loops are slow
constexpr int kStages = 5;
constexpr double kMachineSeconds = 5, kPeerSeconds = 15;  // expected, for people

std::int64_t whole_batches(double samples, std::int64_t batch, std::int64_t most) {
  const auto batches = std::max<std::int64_t>(static_cast<std::int64_t>(samples / double(batch)), 1);
  return std::min(batches * batch, most);
}

double largest_difference(const Network& a, const Network& b) {
  return std::visit(
      [&](const auto& x) {
        const auto& y = std::get<std::decay_t<decltype(x)>>(b.values());
        double largest = 0;
        for (decltype(x.size()) i = 0; i < std::min(x.size(), y.size()); ++i)
          largest = std::max(largest, std::abs(double(x[i]) - double(y[i])));
        return largest;
      },
      a.values());
}

class Climber {
 public:
  Climber(const LadderArguments& arguments, Console& console, const Stopped& stopped, const KeepClimb& keep)
      : arguments_(arguments), console_(console), stopped_(stopped), keep_(keep) {}
  /// However it ends, nothing is left behind.
  ~Climber() {
    std::error_code ignored;
    if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
  }
  Climber(const Climber&) = delete;
  Climber& operator=(const Climber&) = delete;

  Climb run() {
    prepare();
    try {
      probe();
      sample();
      profile();
      curve();
    } catch (const Error& error) {
      if (error.code() != ExitCode::preempted) throw;
    }
    climb_.stopped = stopped_();
    std::erase_if(climb_.rungs, [](const Climbed& each) { return each.sampled.samples.empty(); });
    console_.draw("");
    return std::move(climb_);
  }

 private:
  void prepare() {
    climb_.config = load_config(arguments_.config, arguments_.set);
    const RunConfig& config = climb_.config;
    climb_.epoch_samples = load_data(config.data).train->size();
    climb_.setting = {.config = arguments_.config, .set = arguments_.set, .stopped = stopped_};
    climb_.setting.batch =
        config.train.batch > 0 ? std::min(config.train.batch, climb_.epoch_samples) : climb_.epoch_samples;
    const SplitConfig& split = config.data.split;
    climb_.setting.split = split.train + split.validation + split.test > 0;
    climb_.setting.split_test = split.test;
    std::string pattern = (fs::temp_directory_path() / "lockstep-ladder-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail_system(ExitCode::resources, pattern, errno);
    climb_.setting.scratch = scratch_ = pattern;
    const int cpus = available_cpus();
    const Scalar scalar = config.model.precision == Precision::float32 ? Scalar::float32 : Scalar::float64;
    stage("measuring the machine: arithmetic, memory, one training", kMachineSeconds);
    Ceilings& c = climb_.ceilings;
    c.threads = cpus;
    c.flops_one = measure_fma_peak(scalar, 1);
    c.flops_all = cpus > 1 ? measure_fma_peak(scalar, cpus) : c.flops_one;
    c.bandwidth_one = measure_memory_bandwidth(1);
    c.bandwidth_all = cpus > 1 ? measure_memory_bandwidth(cpus) : c.bandwidth_one;
  }

  std::int64_t batch() const { return climb_.setting.batch; }

  /// What happens next, and how long it is expected to take.
  void stage(const std::string& what, double seconds) {
    const double whole = std::ceil(seconds);
    console_.note(fmt::format("{}/{} {}: about {}", ++stage_, kStages, what,
                              whole < 60 ? fmt::format("{:.0f} s", whole) : duration(whole)));
  }

  static const Rung& reference() {
    static const Rung simd{"reference", "SIMD kernels, 1 thread", RungGroup::simd, "simd"};
    return simd;
  }

  /// The weights that a training on so many samples must have.
  const Turn& reference_of(std::int64_t samples) {
    auto found = references_.find(samples);
    if (found == references_.end())
      found = references_.emplace(samples, run_turn(reference(), climb_.setting, samples, kProbeLimit)).first;
    return found->second;
  }

  void leave_out(const Rung& rung, std::string why) {
    // A training names its configuration first, which is the same for all.
    if (const std::string file = climb_.config.name + ": "; why.starts_with(file)) why.erase(0, file.size());
    console_.note(fmt::format("left out: {}: {}", rung.title, why));
    climb_.left_out.push_back({rung, why});
  }

  /// Which rungs run here, how fast, and so on how many samples each is measured.
  void probe() {
    const std::vector<Rung> rungs = chosen_rungs(all_rungs(available_cpus(), backend_names()), arguments_.rungs);
    const std::int64_t part = whole_batches(double(kProbeBatches * batch()), batch(), climb_.epoch_samples);
    const Turn& first = reference_of(part);
    const double rate = double(part) / first.seconds;
    start_seconds_ = std::max(first.wall - 2 * first.seconds, 0.0);
    climb_.check_samples = whole_batches(double(kCheckBatches * batch()), batch(), climb_.epoch_samples);
    const auto peers = std::count_if(rungs.begin(), rungs.end(), [](const Rung& rung) { return rung.is_peer(); });
    stage(fmt::format("checking {} rungs: each trains the same {} samples", rungs.size(), climb_.check_samples),
          double(rungs.size()) * first.wall + (find_peers() ? kPeerSeconds * double(peers) : 0));
    // Of a turn: two epochs, and starting and ending the process.
    // Half of the budget: rungs with several workers take twice as long, and starting up varies.
    const double turn = 0.5 * arguments_.budget / double(kWantedSamples) / double(rungs.size());
    const double epoch = std::clamp((turn - start_seconds_) / 2, kShortestEpoch, kLongestEpoch);
    const std::int64_t usual = whole_batches(epoch * rate, batch(), climb_.epoch_samples);
    for (const Rung& rung : rungs) {
      console_.draw(fmt::format("ladder: trying {}", rung.title));
      if (rung.is_peer())
        probe_peer(rung, usual);
      else
        probe_rung(rung, usual, epoch);
    }
    if (arguments_.rungs.empty()) name_missing_groups(rungs);
    if (climb_.rungs.empty()) throw Error(ExitCode::usage, "ladder: none of the chosen rungs runs here");
  }

  /// Whoever reads the table shall know what it lacks.
  void name_missing_groups(const std::vector<Rung>& rungs) {
    struct Group {
      RungGroup group;
      const char *title, *needs, *example;
    };
    for (const Group& each : {Group{RungGroup::threads, "SIMD kernels on threads", "2 processors", "threads-2"},
                              {RungGroup::ranks, "SIMD kernels on ranks", "2 processors", "ranks-2"},
                              {RungGroup::hybrid, "SIMD kernels, ranks x threads", "4 processors", "hybrid-2x2"}})
      if (std::none_of(rungs.begin(), rungs.end(), [&](const Rung& rung) { return rung.group == each.group; }))
        leave_out({to_string(each.group), each.title, each.group},
                  fmt::format("needs {}, and there {} {}; --rungs simd,{} tries it all the same", each.needs,
                              available_cpus() == 1 ? "is" : "are", available_cpus(), each.example));
  }

  /// Workers share the samples, and what disturbs one of them holds up all: theirs are as many times more, so that an
  /// epoch takes them as long as one thread. In half that time a moment that somebody else takes weighs twice.
  std::int64_t samples_of(const Rung& rung, std::int64_t usual) const {
    const bool shared =
        rung.group == RungGroup::threads || rung.group == RungGroup::ranks || rung.group == RungGroup::hybrid;
    const std::int64_t workers = shared ? std::min(rung.workers(), climb_.ceilings.threads) : 1;
    return whole_batches(double(usual * workers), batch(), climb_.epoch_samples);
  }

  void probe_rung(const Rung& rung, std::int64_t usual, double epoch) {
    try {
      const Turn turn = run_turn(rung, climb_.setting, climb_.check_samples, kProbeLimit);
      const double rate = double(climb_.check_samples * rung.growth) / turn.seconds;
      const bool slow = double(usual) / rate > kSlow * epoch && rung.group != RungGroup::weak;
      std::int64_t samples = slow ? whole_batches(epoch * rate, batch(), usual) : samples_of(rung, usual);
      if (rung.group == RungGroup::weak)
        samples = std::min(samples, climb_.epoch_samples / rung.growth / batch() * batch());
      if (samples == 0) return leave_out(rung, "the data are too few to grow with the workers");
      Climbed climbed{.rung = rung, .samples = samples, .check = turn};
      compare(climbed, climbed.check, climb_.check_samples);
      if (slow) reference_of(samples);
      climb_.rungs.push_back(std::move(climbed));
    } catch (const Error& error) {
      if (error.code() == ExitCode::preempted) throw;
      leave_out(rung, error.what());
    }
  }

  void probe_peer(const Rung& rung, std::int64_t samples) {
    const auto place = find_peers();
    if (!place) return leave_out(rung, "not installed (make peers)");
    std::string why;
    const auto workload = peer_workload(climb_.config, samples, why);
    if (!workload) return leave_out(rung, why);
    try {
      auto peer = std::make_unique<PeerRung>(*place, rung, *workload, kPeerStartLimit, stopped_);
      climb_.rungs.push_back({.rung = rung, .samples = samples, .mark = "own weights", .version = peer->version()});
      peers_[rung.id] = std::move(peer);
    } catch (const Error& error) {
      if (error.code() == ExitCode::preempted) throw;
      leave_out(rung, error.what());
    }
  }

  double sample_once(Climbed& climbed) {
    ++turns_;
    console_.draw(fmt::format("ladder: turn {}, {}", turns_, climbed.rung.title));
    if (peer_was_last_) std::this_thread::sleep_for(kPeerRest);
    peer_was_last_ = climbed.rung.is_peer();
    if (climbed.rung.is_peer()) {
      const PeerAnswer answer = peers_.at(climbed.rung.id)->run(kProbeLimit);
      climbed.last.accuracy = answer.accuracy;
      climbed.last.loss = answer.loss;
      return answer.seconds;
    }
    const double limit = kProbeLimit + 20 * climbed.last.wall;
    climbed.last = run_turn(climbed.rung, climb_.setting, climbed.samples, limit);
    compare(climbed, climbed.last, climbed.samples);
    return climbed.last.seconds;
  }

  /// The weights of this turn with those of the reference on as many samples: every turn, not only the check. How far
  /// they are off is said of the check, which all rungs have in common.
  void compare(Climbed& climbed, const Turn& turn, std::int64_t samples) {
    if (climbed.rung.group == RungGroup::weak) {
      climbed.mark = "other training";
      return;
    }
    const Turn& reference = reference_of(samples);
    if (turn.weight_hash == reference.weight_hash) {
      if (climbed.mark.empty()) climbed.mark = "same";
      return;
    }
    if (climbed.mark != "differs")
      climbed.largest_difference =
          largest_difference(load_model(turn.model).network, load_model(reference.model).network);
    climbed.mark = "differs";
  }

  /// A peer's weights after one more training of its own, beside those of SIMD kernels from the same first weights on
  /// the same batches in the same order.
  void compare_peer(Climbed& climbed) {
    console_.draw(fmt::format("ladder: comparing the weights of {}", climbed.rung.title));
    const RunConfig& config = climb_.config;
    for (const LayerSpec& layer : config.model.layers)
      if (std::holds_alternative<BatchNorm>(layer.kind)) return;  // peers: statistics of the batch, ours: of the slot
    try {
      const fs::path folder = climb_.setting.scratch / climbed.rung.id;
      fs::create_directories(folder);
      const auto weights = peers_.at(climbed.rung.id)->weights(folder.string(), kProbeLimit);
      Rung rung = reference();
      rung.id += "-" + climbed.rung.id;
      TurnSetting setting = climb_.setting;
      setting.set.push_back("train.shuffle=false");
      setting.set.push_back(fmt::format("model.init=\"{}\"", weights.initial));
      const Turn ours = run_turn(rung, setting, climbed.samples, kProbeLimit);
      RunConfig theirs = config;
      theirs.model.init_file = weights.trained;
      climbed.largest_difference = largest_difference(load_model(ours.model).network, make_network(theirs));
      climbed.mark = "differs";
    } catch (const Error& error) {
      if (error.code() == ExitCode::preempted) throw;
      console_.note(fmt::format("weights of {} not compared: {}", climbed.rung.title, error.what()));
    }
  }

  void keep_round(const std::vector<SampledResult>& results) {
    Climb so_far = climb_;
    for (std::size_t i = 0; i < results.size(); ++i) so_far.rungs[i].sampled = results[i];
    std::erase_if(so_far.rungs, [](const Climbed& each) { return each.sampled.samples.empty(); });
    if (!so_far.rungs.empty()) keep_(so_far);
  }

  void sample() {
    for (const Climbed& each : climb_.rungs)
      if (!each.rung.is_peer() && each.rung.group != RungGroup::weak) reference_of(each.samples);
    std::vector<SampledVariant> variants;
    // The first epoch of every turn warms up; a peer lives on between its turns, and its first one does.
    for (Climbed& climbed : climb_.rungs)
      variants.push_back(
          {climbed.rung.id, [this, &climbed] { return sample_once(climbed); }, climbed.rung.is_peer() ? 1 : 0});
    stage(fmt::format("measuring {} rungs in turns", climb_.rungs.size()), arguments_.budget);
    const SamplingRule rule{.share = arguments_.share,
                            .least = std::min(kWantedSamples, arguments_.samples),
                            .most = arguments_.samples,
                            .budget_seconds = arguments_.budget,
                            .after_round = [this](const auto& results) { keep_round(results); },
                            .stopped = stopped_};
    std::vector<SampledResult> results = sample_in_turns(variants, rule);
    for (Climbed& climbed : climb_.rungs)
      if (climbed.rung.is_peer() && climbed.last.accuracy && !stopped_()) compare_peer(climbed);
    peers_.clear();
    for (std::size_t i = 0; i < results.size(); ++i) climb_.rungs[i].sampled = std::move(results[i]);
    std::erase_if(climb_.rungs, [&](const Climbed& each) {
      if (!each.sampled.samples.empty()) return false;
      if (each.sampled.end == SamplingEnd::failed) leave_out(each.rung, each.sampled.failure);
      return true;
    });
  }

  /// One more turn of every rung, with spans: they say where the time goes, and their times are not used.
  void profile() {
    double seconds = 0;
    for (const Climbed& each : climb_.rungs) seconds += each.last.wall;
    stage("looking where the time of each rung goes", seconds);
    for (Climbed& climbed : climb_.rungs) {
      if (climbed.rung.is_peer()) continue;
      console_.draw(fmt::format("ladder: spans of {}", climbed.rung.title));
      try {
        climbed.profile = run_turn(climbed.rung, climb_.setting, climbed.samples, kProbeLimit, true).profile;
      } catch (const Error& error) {
        if (error.code() == ExitCode::preempted) throw;
        console_.note(fmt::format("no spans of {}: {}", climbed.rung.title, error.what()));
      }
    }
  }

  /// The training as the configuration has it, on the fastest rung that keeps the promise.
  void curve() {
    const CurvePlan plan = plan_curve(climb_);
    if (plan.rung == nullptr) return;
    if (plan.epochs < 1) return console_.note("no curve of loss and accuracy: an epoch takes too long");
    stage(
        fmt::format("training {} of {} epochs in full on {}", plan.epochs, climb_.config.epochs, plan.rung->rung.title),
        plan.seconds + start_seconds_);
    if (const std::string why = train_curve(plan, stopped_, climb_); !why.empty())
      console_.note(fmt::format("no curve of loss and accuracy: {}", why));
  }

  const LadderArguments& arguments_;
  Console& console_;
  const Stopped& stopped_;
  const KeepClimb& keep_;
  fs::path scratch_;
  Climb climb_{};
  std::map<std::int64_t, Turn> references_;
  std::map<std::string, std::unique_ptr<PeerRung>> peers_;
  int turns_ = 0, stage_ = 0;
  double start_seconds_ = 0;  // of a turn: starting and ending the process, reading the data
  bool peer_was_last_ = false;
};

}  // namespace

Climb climb(const LadderArguments& arguments, Console& console, const Stopped& stopped, const KeepClimb& keep) {
  return Climber(arguments, console, stopped, keep).run();
}

}  // namespace lockstep::cli
