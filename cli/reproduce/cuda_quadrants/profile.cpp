// Where the time of cuda-quadrants goes, by the spans of our own trainer, and by callgrind, as in the published
// profile: it counts the instructions of the unoptimised plain loops in a short training by this very program.

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"
#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "lockstep/lab/profile.hpp"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPatience{4};
constexpr const char* kWhole = "lockstep::Trainer::fit(";

struct Function {
  const char* name;  // as callgrind_annotate prints it, up to the arguments
  SectionMember section;
};
constexpr std::array<Function, 7> kFunctions = {{{"LinearLayer<float>::forward(", &SectionShares::linear_forward},
                                                 {"LinearLayer<float>::backward(", &SectionShares::linear_backward},
                                                 {"ActivationLayer<float>::forward(", &SectionShares::relu_forward},
                                                 {"ActivationLayer<float>::backward(", &SectionShares::relu_backward},
                                                 {"Worker<float>::score(", &SectionShares::sigmoid_and_loss},
                                                 {"Worker<float>::load(", &SectionShares::load},
                                                 {"ThreadStep<float>::reduce_and_update(", &SectionShares::reduce}}};

/// "  375,227,488 (57.35%)  file:function(...)" -> 375227488; 0 for any other line.
double instructions(const std::string& line) {
  std::string digits;
  for (const char c : line.substr(0, line.find('('))) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != ',' && c != ' ')
      return 0;
  }
  double number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// Whether the function of the line is this one, not one that has it among its arguments.
bool is_function(const std::string& line, const std::string& name) {
  const auto place = line.find(name), first = line.find('(', line.find(')') + 1);
  if (place == std::string::npos) return false;
  // "(anonymous namespace)::" is part of a name.
  const std::string before = line.substr(0, place);
  return first >= place || before.ends_with("lockstep::(anonymous namespace)::");
}

SectionMember section_of(const SectionName& section) {
  using S = SectionShares;
  const bool back = section.phase == "backward";
  if (section.name.find("linear") != std::string::npos) return back ? &S::linear_backward : &S::linear_forward;
  if (section.name.find("relu") != std::string::npos) return back ? &S::relu_backward : &S::relu_forward;
  if (section.name.find("sigmoid") != std::string::npos || section.name == "loss") return &S::sigmoid_and_loss;
  if (section.name == "update") return &S::linear_backward;
  return section.name == "load" ? &S::load : section.name == "reduce" ? &S::reduce : &S::other;
}

SectionShares measure_shares(const QuadrantData& data, Backend backend, std::int64_t epochs) {
  Network network = published_quadrant_network();
  Profile profile;
  Trainer trainer(network, quadrant_options(backend, 1));
  trainer.fit(*data.train, {.epochs = epochs, .profile = &profile});
  SectionShares shares;
  for (const ProfileRow& row : profile_rows(profile)) {
    std::optional<double>& share = shares.*section_of(row.section);
    share = share.value_or(0) + row.share;
  }
  return shares;
}

/// Instructions by section, counted by callgrind in a run of this program. Where that is not possible: nothing, and a
/// line in the report that says why.
std::optional<SectionShares> callgrind_shares(const ExperimentRun& run) {
  const auto missing = [&](const std::string& why) {
    run.left_out("instructions by callgrind", why);
    return std::nullopt;
  };
  const auto valgrind = find_program("valgrind"), annotate = find_program("callgrind_annotate");
  if (!valgrind || !annotate) return missing("valgrind is not installed: sudo apt-get install valgrind");
  run.progress("where the instructions go: callgrind");
  const fs::path scratch = run.folder / "callgrind";
  fs::create_directories(scratch);
  const std::string counts = (scratch / "counts").string();
  const Captured trained =
      run_captured({*valgrind, "--tool=callgrind", "--callgrind-out-file=" + counts, own_program(), "train",
                    (run.folder / "config.toml").string(), "--backend", "naive-o0", "--threads", "1", "--quiet",
                    "--set", fmt::format("data.count={}", run.quick ? 8192 : 65536), "--set", "data.test_count=0",
                    "--set", "train.epochs=1", "--out", (scratch / "run").string()},
                   {.patience = kPatience});
  std::optional<SectionShares> shares;
  std::string why = trained.reason();
  if (trained.ok()) {
    const Captured listed =
        run_captured({*annotate, "--inclusive=yes", "--threshold=100", counts}, {.patience = kPatience});
    shares = listed.ok() ? parse_callgrind(listed.out) : std::nullopt;
    why = listed.ok() ? "this program has no symbols" : listed.reason();
  }
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  return shares ? shares : missing(why);
}

}  // namespace

void profile_quadrants(const ExperimentRun& run, const QuadrantData& data) {
  const auto record = [&](const std::string& name, const SectionShares& shares) {
    run.record(std::string(kQuadrantShares) + ": " + name, shares);
  };
  if (const auto counted = callgrind_shares(run)) record("-O0, instructions", *counted);
  run.progress("where the time goes: spans");
  record("plain loops -O0", measure_shares(data, Backend::naive_o0, 1));
  record("plain loops -O3", measure_shares(data, Backend::naive, run.quick ? 1 : 5));
  record("SIMD", measure_shares(data, Backend::simd, run.quick ? 5 : 20));
}

std::optional<SectionShares> parse_callgrind(const std::string& text) {
  SectionShares shares;
  double whole = 0, known = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (is_function(line, kWhole)) whole = std::max(whole, instructions(line));
    for (const Function& function : kFunctions)
      if (!(shares.*function.section) && is_function(line, function.name)) {
        shares.*function.section = instructions(line);
        known += *(shares.*function.section);
      }
  }
  if (whole <= 0 || known <= 0 || known > whole) return std::nullopt;
  for (const Function& function : kFunctions)
    if (std::optional<double>& share = shares.*function.section) *share /= whole;
  shares.other = (whole - known) / whole;
  return shares;
}

}  // namespace lockstep::cli
