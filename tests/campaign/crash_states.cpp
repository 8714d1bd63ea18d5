// campaign_crash RECORD RUN WORK STATES SEED [--initial FOLDER] [--forget files|folders] [--keep FOLDER]
// The run directory RUN (an absolute path) was written while RECORD was made (recorder.hpp), beginning with what
// --initial holds. Draws STATES different states that a power cut may leave (crash_model.hpp), puts each into the
// folder WORK, and looks at it as `lockstep train --resume` does, with the library's own functions. Each must be
//   - a run to go on with: the newest checkpoint is at least the one whose saving was done, with the metrics it names;
//   - or, before the first checkpoint was saved, one that begins again;
// and the model is not there (before it was saved), or whole: the old one or the new one.
// --forget plants a defect: a program that does not sync files, or folders. States that break are put into --keep.
// Prints one line of JSON; exit code 1 where a state breaks.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/run/resume.hpp"
#include "tests/campaign/crash_model.hpp"

namespace campaign {
namespace {

namespace fs = std::filesystem;
using namespace lockstep;

struct Arguments {
  fs::path record, run, work, initial{}, keep{};
  std::size_t states = 0;
  std::uint64_t seed = 0;
  std::string forget{};
};

Arguments read_arguments(int count, char** words) {
  if (count < 6) throw std::runtime_error("campaign_crash RECORD RUN WORK STATES SEED [OPTION VALUE]...");
  Arguments all{.record = words[1], .run = words[2], .work = words[3]};
  all.states = std::stoul(words[4]);
  all.seed = std::stoull(words[5]);
  for (int i = 6; i + 1 < count; i += 2) {
    const std::string option = words[i];
    if (option == "--initial") all.initial = words[i + 1];
    if (option == "--forget") all.forget = words[i + 1];
    if (option == "--keep") all.keep = words[i + 1];
  }
  return all;
}

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What stands in `from`, as it was in the folder `as`.
DiskState read_folder(const fs::path& from, const fs::path& as) {
  DiskState state;
  if (from.empty() || !fs::exists(from)) return state;
  state[as.string() + "/"] = "";
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.is_regular_file()) state[(as / entry.path().filename()).string()] = contents_of(entry.path());
  return state;
}

void write_folder(const DiskState& state, const fs::path& run, const fs::path& to) {
  fs::remove_all(to);
  for (const auto& [path, contents] : state) {
    if (path == run.string() + "/") fs::create_directories(to);
    if (!path.ends_with('/') && fs::path(path).parent_path() == run)
      std::ofstream(to / fs::path(path).filename(), std::ios::binary) << contents;
  }
}

/// What is certain at an instant, because the call that saved it had returned.
struct Saved {
  std::int64_t step = -1;  // of the newest checkpoint
  bool model = false, run = false;
};

/// Nothing where the state is as it must be, else what is wrong.
std::optional<std::string> fault_of(const fs::path& folder, const RunConfig& config, const Saved& saved) {
  try {
    if (!fs::exists(folder)) return saved.step >= 0 ? std::optional("the run directory is lost") : std::nullopt;
    const RunDirectoryOptions options{.path = folder.string(), .name = "run", .resume = true};
    const RunDirectory directory(options);
    RunObserver silent;
    const std::optional<Checkpoint> found = find_checkpoint(directory, config, silent);
    const std::int64_t step = found ? found->state.steps : -1;
    if (step < saved.step)
      return "the newest checkpoint is of step " + std::to_string(step) + ", that of " + std::to_string(saved.step) +
             " was saved";
    if (found) check_lines(*found, directory);
    const fs::path model = directory.file(kModelFile);
    if (fs::exists(model))
      load_model(model);
    else if (saved.model)
      return "the model is lost";
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

/// Notes what an operation has made certain.
void note_saved(const Operation& operation, const fs::path& run, Saved& pending, Saved& saved) {
  if (operation.kind == 'r') {
    const std::string name = fs::path(operation.second).filename().string();
    if (const auto step = checkpoint_step(name)) pending.step = std::max(pending.step, *step);
    if (name == kModelFile) pending.model = true;
  }
  if (operation.kind == 's' && operation.first == run.string()) saved = pending;
}

std::string hash_of(const DiskState& state) {
  Sha256 hash;
  for (const auto& [path, contents] : state) {
    hash.update(std::as_bytes(std::span(path)));
    const std::uint64_t size = contents.size();
    hash.update(std::as_bytes(std::span(&size, 1)));
    hash.update(std::as_bytes(std::span(contents)));
  }
  return to_hex(hash.finish());
}

int main_of_campaign(const Arguments& arguments) {
  std::vector<Operation> operations = read_record(arguments.record);
  const auto forgotten = [&](const Operation& each) {
    const bool folder = each.first == arguments.run.string() || each.first == arguments.run.parent_path().string();
    return each.kind == 's' && (arguments.forget == "folders" ? folder : arguments.forget == "files" && !folder);
  };
  const DiskState initial = read_folder(arguments.initial, arguments.run);
  CrashDisk whole(initial);
  for (const Operation& each : operations) whole.apply(each);
  const DiskState last = whole.live();
  const RunConfig config = parse_config(last.at((arguments.run / kConfigFile).string()), "config.toml");

  std::mt19937_64 random(arguments.seed);
  std::set<std::string> seen;
  std::map<std::string, std::int64_t> faults;
  std::int64_t drawn = 0;
  // Passes over all instants, until there are enough states, or no new ones.
  for (std::size_t before = 1; seen.size() < arguments.states && seen.size() != before;) {
    before = seen.size();
    CrashDisk disk(initial);
    Saved pending, saved;
    for (const auto& [path, contents] : initial)
      if (const auto step = checkpoint_step(fs::path(path).filename().string()))
        pending.step = saved.step = std::max(saved.step, *step);
    pending.model = saved.model = initial.contains((arguments.run / kModelFile).string());
    for (const Operation& each : operations) {
      note_saved(each, arguments.run, pending, saved);
      if (!forgotten(each)) disk.apply(each);
      for (int i = 0; i < 8 && seen.size() < arguments.states; ++i, ++drawn) {
        const DiskState state = disk.draw(random);
        if (!seen.insert(hash_of(state) + std::to_string(saved.step)).second) continue;
        write_folder(state, arguments.run, arguments.work);
        const std::optional<std::string> fault = fault_of(arguments.work, config, saved);
        if (!fault) continue;
        if (faults.empty() && !arguments.keep.empty()) write_folder(state, arguments.run, arguments.keep);
        ++faults[*fault];
      }
    }
  }
  fs::remove_all(arguments.work);
  const nlohmann::json result = {
      {"operations", operations.size()}, {"drawn", drawn}, {"states", seen.size()}, {"faults", faults}};
  std::cout << result.dump() << '\n';
  return faults.empty() ? 0 : 1;
}

}  // namespace
}  // namespace campaign

int main(int count, char** words) {
  try {
    return campaign::main_of_campaign(campaign::read_arguments(count, words));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
