#include "cli/reproduce/conv_multicore/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "cli/process/conversation.hpp"
#include "cli/process/mpirun.hpp"
#include "cli/process/tools.hpp"
#include "cli/reproduce/conv_image.hpp"
#include "cli/reproduce/conv_multicore/published.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/rank_session.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kProbeStep = 1000003;  // as bench/reproduce/conv_image.py
// Of the 128: all of them by plain loops would take half an hour. Eight threads need eight.
constexpr std::int64_t kNaiveKernels = 16, kQuickNaiveKernels = 8;
constexpr double kPeerPatience = 300;  // seconds for a convolution or an import: PyTorch from a cold disk
constexpr double kTolerance = 1e-4;    // of other software: sums of 121 products in another order

constexpr const char* kConfig =
    R"(# conv-multicore: one convolution of one grey picture. Weights are scrambled numbers in
# [-0.5, 0.5) that other programs can make as well; so are the pixels, unless --data names a PNG.
[picture]
width = 1280
height = 720
[kernels]
count = 128
size = 11          # 11x11, valid: 1270x710 outputs each, 27.9 GFLOP in all
[workers]
threads = [1, 2, 4, 8]
ranks = [1, 2, 4, 8]
runs = 10
)";

/// Ten runs each, as published; three to try.
SamplingRule rule_for(bool quick) {
  const int runs = quick ? 3 : 10;
  return {.share = 0, .least = runs, .most = runs, .budget_seconds = 3600};
}

/// The same image by teams of 1, 2, 4 and 8 threads.
std::vector<Variant> thread_variants(Backend backend, const ConvPicture& picture, std::int64_t kernels) {
  const auto image = std::make_shared<ConvImage>(backend, picture, 0, kernels);
  std::vector<Variant> variants;
  for (const int threads : conv_published::kCores)
    variants.push_back({.line = timing_of(std::to_string(threads),
                                          WorkersRecord{threads, double(kernels), backend_info(backend).name}),
                        .body = [image, threads] { image->run(threads); }});
  return variants;
}

void time_threads(const ExperimentRun& run, const ConvPicture& picture) {
  run.progress("SIMD kernels on 1, 2, 4 and 8 threads, in turns");
  time_variants(run, kConvThreads, thread_variants(Backend::simd, picture, kImageGeometry.out_channels),
                rule_for(run.quick));
  const std::int64_t kernels = run.quick ? kQuickNaiveKernels : kNaiveKernels;
  run.progress(fmt::format("plain loops on {} of the 128 kernels, likewise", kernels));
  time_variants(run, kConvNaive, thread_variants(Backend::naive, picture, kernels), rule_for(run.quick));
}

/// Rounds of a few runs per number of ranks: in turns, but for what one start of mpirun does at once.
void time_ranks(const ExperimentRun& run) {
  if (const std::string why = why_no_ranks(); !why.empty()) return run.left_out("ranks", why);
  const int rounds = run.quick ? 1 : 5, runs = run.quick ? 3 : 2;
  std::vector<std::string> words = {"reproduce", "conv-multicore", "--rank-runs", std::to_string(runs)};
  if (!run.data.empty()) words.insert(words.end(), {"--data", std::filesystem::absolute(run.data).string()});
  std::map<int, std::vector<double>> samples;
  std::map<int, std::string> failures;
  for (int round = 0; round < rounds; ++round)
    for (const int ranks : conv_published::kCores) {
      if (failures.contains(ranks)) continue;
      if (round == 0) run.progress(fmt::format("{} under mpirun", count_of(ranks, "rank")));
      const Captured done =
          run_on_ranks(ranks, {.command = words}, "reproduce",
                       {.patience = std::chrono::minutes(5), .environment = {{"OMP_NUM_THREADS", "1"}}});
      const Json seconds = Json::parse(done.ok() ? done.out : "null", nullptr, false);
      if (!seconds.is_array()) {
        failures[ranks] = done.ok() ? "its answer makes no sense" : done.reason();
        run.left_out(fmt::format("{} ranks", ranks), failures[ranks]);
        continue;
      }
      for (const Json& each : seconds) samples[ranks].push_back(each.get<double>());
    }
  for (auto& [ranks, seconds] : samples)
    keep_samples(run, kConvRanks,
                 {.line = timing_of(std::to_string(ranks), WorkersRecord{.workers = ranks}), .baseline = "1"},
                 std::move(seconds));
}

/// The largest difference of some outputs, or nothing where they are not as many.
std::optional<double> difference(const std::vector<float>& ours, const Json& theirs) {
  if (!theirs.is_array() || theirs.size() != ours.size()) return std::nullopt;
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(ours[i]) - theirs[i].get<double>()));
  return largest;
}

struct Peer {
  const char *module, *name, *cure;
};
constexpr Peer kPeers[] = {{"torch", "PyTorch", "make peers, or pip install torch"},
                           {"cv2", "OpenCV filter2D", "pip install opencv-python-headless"},
                           {"scipy", "SciPy FFT", "pip install scipy"}};

/// Starts another program's convolution and adds it to the contest, if it computes the same. It has tried its variants
/// before it answers, and goes on with the fastest.
void add_peer(const ExperimentRun& run, const Peer& peer, const std::vector<std::string>& script, int threads,
              const std::vector<float>& ours, std::vector<Variant>& contest) {
  const std::string name = fmt::format("{}, {}", peer.name, count_of(threads, "thread"));
  const auto python = find_python({"numpy", peer.module});
  if (!python) return run.left_out(name, fmt::format("no Python here imports {}: {}", peer.module, peer.cure));
  run.progress(fmt::format("{} by {}", name, *python));
  try {
    std::vector<std::string> words = {*python, script[0], peer.module, std::to_string(threads),
                                      std::to_string(kProbeStep)};
    words.insert(words.end(), script.begin() + 1, script.end());
    const auto program =
        std::make_shared<Conversation>(words, Environment{{"OMP_NUM_THREADS", std::to_string(threads)}}, kPeerPatience);
    const Json& greeting = program->greeting();
    const auto off = difference(ours, greeting.value("outputs", Json()));
    if (!off || *off > kTolerance)
      return run.left_out(name, fmt::format("it computes something else: outputs differ by {}", off ? *off : NAN));
    const SoftwareRecord record{.workers = threads,
                                .largest_difference = off,
                                .version = greeting.value("version", ""),
                                .python = *python,
                                .variant = greeting.value("variant", ""),
                                .tried = tried_words(greeting)};
    contest.push_back(
        {.line = timing_of(fmt::format("{} ({}), {}", peer.name, record.variant, count_of(threads, "thread")), record),
         .sample = [program] { return program->ask("run", kPeerPatience).at("seconds").get<double>(); }});
  } catch (const std::exception& error) {  // of the program, or of what it said
    run.left_out(name, error.what());
  }
}

void time_peers(const ExperimentRun& run, const ConvPicture& picture) {
  const int all = available_cpus();
  const std::vector<int> teams = all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
  const auto image = std::make_shared<ConvImage>(Backend::simd, picture);
  image->run(all);
  const std::vector<float> outputs = image->outputs(kProbeStep);
  std::vector<Variant> contest;
  for (const int threads : teams)
    contest.push_back(
        {.line = timing_of(fmt::format("SIMD, {}", count_of(threads, "thread")), SoftwareRecord{.workers = threads}),
         .body = [image, threads] { image->run(threads); }});
  try {
    const auto library = std::make_shared<ConvImage>(Backend::library, picture);
    contest.push_back({.line = timing_of("library (oneDNN), 1 thread", SoftwareRecord{.workers = 1}),
                       .body = [library] { library->run(1); }});
  } catch (const Error& error) {
    run.left_out("library (oneDNN)", error.what());
  }
  const std::filesystem::path pixels = run.folder / "pixels";
  if (const auto script = find_in_tree("bench/reproduce/conv_image.py")) {
    write_file_atomically(pixels, std::as_bytes(std::span(picture.pixels)));
    for (const Peer& peer : kPeers)
      for (const int threads : teams)
        add_peer(run, peer, {script->string(), pixels.string()}, threads, outputs, contest);
    std::filesystem::remove(pixels);
  } else {
    run.left_out("other software", "bench/reproduce/conv_image.py is not beside this program");
  }
  run.progress("ours, the library kernels and other software, in turns");
  time_variants(run, kConvPeers, contest, rule_for(run.quick));
}

void measure_conv(const ExperimentRun& run) {
  const ConvPicture picture = conv_picture(run.data);
  if (picture.height > 0) {
    const std::string name = std::filesystem::path(run.data).filename().string();
    run.progress(fmt::format("{}: {}x{} in grey, resized to 1280x720", one_line(name), picture.width, picture.height));
    run.record(kConvPicture, PictureRecord{name, picture.width, picture.height});
  }
  time_threads(run, picture);
  time_ranks(run);
  time_peers(run, picture);
}

}  // namespace

void run_conv_rank(int runs, const std::string& data, Console& console) {
  run_as_rank(
      [&](Ranks& ranks) {
        const std::int64_t first = ranks.share(kImageGeometry.out_channels, ranks.rank());
        const std::int64_t count = ranks.share(kImageGeometry.out_channels, ranks.rank() + 1) - first;
        ConvImage image(Backend::simd, conv_picture(data), first, count);
        image.run(1);  // memory is touched, scratch is made
        Json slowest = Json::array();
        for (int i = 0; i < runs; ++i) {
          ranks.barrier("convolution");
          const std::string own = fmt::format("{}", image.run(1));
          double longest = 0;
          for (const std::string& seconds : ranks.all_gather(own, "convolution"))
            longest = std::max(longest, std::stod(seconds));
          slowest.push_back(longest);
        }
        if (ranks.leader()) console.print(slowest.dump() + "\n");
      },
      [&](const std::string& message) { console.fail(message); });
}

Experiment conv_multicore() {
  return {.name = "conv-multicore",
          .title = "one convolution of a 1280x720 picture with 128 kernels on 1, 2, 4 and 8 threads and ranks",
          .paper = conv_published::kPaper,
          .time = "about 100 s, 150 s with PyTorch, OpenCV and SciPy; with --quick less",
          .config = kConfig,
          .data = "a PNG, convolved in grey at 1280x720",
          .measure = measure_conv,
          .claims = conv_claims(),
          .describe = describe_conv};
}

}  // namespace lockstep::cli
