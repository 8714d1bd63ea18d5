#include "cli/ladder/turn.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/output/json.hpp"
#include "cli/process/mpirun.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr int kTestSamples = 2000;  // whose accuracy is shown; the peers use as many
constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;

std::vector<std::string> train_words(const Rung& rung, const TurnSetting& setting, std::int64_t samples) {
  std::vector<std::string> words = {"train", setting.config};
  const auto set = [&](std::string change) {
    words.emplace_back("--set");
    words.push_back(std::move(change));
  };
  for (const std::string& change : setting.set) set(change);
  if (!setting.split)
    set(fmt::format("data.limit={}", samples * rung.growth));
  else if (setting.split_test > 0)
    set(fmt::format("data.split={{train={}, test={}}}", samples * rung.growth, setting.split_test));
  else
    set(fmt::format("data.split={{train={}}}", samples * rung.growth));
  set(fmt::format("data.test_limit={}", kTestSamples));
  set("train.epochs=2");
  if (rung.growth > 1) set(fmt::format("train.batch={}", setting.batch * rung.growth));
  words.insert(words.end(), {"--backend", rung.backend, "--threads", std::to_string(rung.threads)});
  return words;
}

[[noreturn]] void not_understood(const std::string& what) {
  throw Error(ErrorCode::bug, fmt::format("the run of a rung did not say {}", what));
}

const Json& member(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (!json.is_object() || found == json.end()) not_understood(key);
  return *found;
}

double number(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_number()) not_understood(key);
  return value.get<double>();
}

PhaseSeconds phases(const Json& json) {
  PhaseSeconds seconds;
  if (!json.is_object()) not_understood("its phases");
  for (const auto& [name, value] : json.items())
    if (value.is_number()) seconds[name] = value.get<double>();
  return seconds;
}

TurnProfile profile_of(const Json& json) {
  TurnProfile profile{.explained = number(json, "explained"), .seconds = number(json, "seconds")};
  profile.samples = static_cast<std::int64_t>(number(json, "samples"));
  for (const Json& row : member(json, "sections")) {
    const std::string name = member(row, "section").get<std::string>(), phase = member(row, "phase").get<std::string>();
    profile.sections.push_back({name == phase ? name : fmt::format("{} {}", name, phase), number(row, "seconds"),
                                number(row, "flops"), number(row, "bytes")});
    profile.flops += profile.sections.back().flops;
  }
  if (json.contains("device_kernels"))
    for (const Json& kernel : json["device_kernels"]) profile.device_seconds += number(kernel, "seconds");
  for (const Json& thread : member(json, "by_thread")) profile.by_thread.push_back(phases(member(thread, "seconds")));
  return profile;
}

/// The last line of timings.jsonl: the second epoch.
void read_timings(const fs::path& file, Turn& turn) {
  std::string text = read_text(file, kMostBytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  turn.warm_up_epochs = std::count(text.begin(), text.end(), '\n');
  const Json line = Json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
  if (!line.is_object()) not_understood("its timings");
  if (line.contains("ranks")) {
    for (const Json& rank : line["ranks"]) turn.ranks.push_back(phases(member(rank, "seconds")));
  } else {
    turn.ranks.push_back(phases(member(line, "seconds")));
  }
  for (const PhaseSeconds& rank : turn.ranks)
    if (const auto total = rank.find("total"); total != rank.end())
      turn.seconds = std::max(turn.seconds, total->second);  // validation is not part of it
  if (turn.seconds <= 0) not_understood("how long it took");
}

/// Ranks of one thread each are bound to cores, as Open MPI's mpirun does by itself with two of them: a rank that spins
/// on the core of the rank it waits for holds up both until the kernel moves one. Not where the process is confined to
/// some processors, which mpirun does not know.
bool binds_ranks(const Rung& rung) {
  return rung.ranks > 1 && rung.threads == 1 && rung.ranks <= available_cpus() &&
         available_cpus() == static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

Captured start(const Rung& rung, std::vector<std::string> words, const TurnSetting& setting, double limit) {
  const CaptureOptions options{.patience = milliseconds_of(limit), .stopped = setting.stopped};
  if (rung.ranks == 1) {
    words.insert(words.begin(), own_program());
    return run_captured(words, options);
  }
  MpirunOptions launch{.command = std::move(words)};
  // Overload: processors may be the hardware threads of fewer cores.
  if (binds_ranks(rung)) launch.bind_to = find_mpirun("").open_mpi ? "core:overload-allowed" : "core";
  return run_on_ranks(rung.ranks, launch, "ladder", options);
}

}  // namespace

TurnSetting setting_of(const RunConfig& config, std::int64_t epoch_samples) {
  const SplitConfig& split = config.data.split;
  return {.batch = config.train.batch > 0 ? std::min(config.train.batch, epoch_samples) : epoch_samples,
          .split = split.train + split.validation + split.test > 0,
          .split_test = split.test};
}

std::string turn_command(const Rung& rung, const TurnSetting& setting, std::int64_t samples) {
  const std::string mpirun =
      rung.ranks > 1 ? fmt::format("mpirun -n {}{} ", rung.ranks, binds_ranks(rung) ? " --bind-to core" : "") : "";
  return fmt::format("{}lockstep {}", mpirun, shell_words(train_words(rung, setting, samples)));
}

Turn run_turn(const Rung& rung, const TurnSetting& setting, std::int64_t samples, double limit, bool profile) {
  std::vector<std::string> words = train_words(rung, setting, samples);
  const fs::path folder = setting.scratch / fmt::format("{}-{}", rung.id, samples);
  words.insert(words.end(), {"--json", "--quiet", "--overwrite", "--out", folder.string()});
  if (profile) words.emplace_back("--profile");
  const auto begin = std::chrono::steady_clock::now();
  const Captured end = start(rung, std::move(words), setting, limit);
  Turn turn{.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  if (end.stopped) throw Error(ErrorCode::preempted, end.reason());
  if (end.timed_out)
    throw Error(ErrorCode::peer_lost, fmt::format("it took longer than {:.0f} s and was ended", limit));
  if (end.code != 0)
    throw Error(end.code == static_cast<int>(ErrorCode::usage) ? ErrorCode::usage : ErrorCode::bug, end.reason());
  const Json json = Json::parse(end.out, nullptr, false);
  turn.weight_hash = member(json, "weight_hash").get<std::string>();
  turn.threads_note = json.value("threads_note", std::string());
  const Json& scores = json.contains("test") ? json["test"] : member(json, "train");
  if (scores.contains("accuracy")) turn.accuracy = number(scores, "accuracy");
  if (scores.contains("loss")) turn.loss = number(scores, "loss");
  turn.model = folder / kModelFile;
  read_timings(folder / kTimingsFile, turn);
  if (profile) turn.profile = profile_of(member(json, "profile"));
  return turn;
}

}  // namespace lockstep::cli
