#include "cli/exercise/grading/autograder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/exercise/grading/grade.hpp"
#include "cli/exercise/grading/zip.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostProgram = std::int64_t{512} << 20, kMostTaskFile = std::int64_t{4} << 20;
constexpr std::size_t kMostFiles = 200;

constexpr const char* kSetup = R"sh(#!/usr/bin/env bash
# Runs once, when the image of the autograder is made: a compiler for the submissions, and what the program needs.
set -e
apt-get update
apt-get install -y --no-install-recommends g++ libgomp1 libpng16-16 zlib1g
# The names of these two differ between releases.
apt-get install -y --no-install-recommends libjpeg62-turbo || apt-get install -y --no-install-recommends libjpeg62
apt-get install -y --no-install-recommends libfmt9 || apt-get install -y --no-install-recommends libfmt-dev
cd "$(dirname "$0")"
chmod +x lockstep
./lockstep --version || {
  echo "the program in this zip does not run on this image: choose an image like the machine it was built on" >&2
  exit 1
}
)sh";

// Gradescope copies run_autograder beside the folders source, submission and results.
constexpr const char* kRun = R"sh(#!/usr/bin/env bash
# Grades one submission: submission/ by source/task, into results/results.json.
cd "$(dirname "$0")"
mkdir -p results
if ! source/lockstep exercise export --results submission --task source/task --out results/results.json; then
  echo '{"score": 0, "output": "The autograder itself failed. This is no fault of the submission: tell your teacher."}' \
    > results/results.json
fi
)sh";

/// The emulator of CUDA for submissions of that track; empty where there is none.
fs::path find_cuda_emulator() {
  constexpr const char* kFile = "libcuda_emulator.so";
  if (const fs::path beside = find_plugin(kFile); !beside.empty()) return beside;
  return find_in_tree(fs::path("tests/cuda_emulator") / kFile).value_or(fs::path());
}

std::string task_toml(const fs::path& file, const GradedTask& task) {
  const std::string text = read_text(file, kMostTaskFile, ErrorCode::usage);
  if (task.exercise.own == nullptr || fs::equivalent(task.exercise.own->folder / kTaskFile, file)) return text;
  throw Error(ErrorCode::usage, fmt::format("{} names an own exercise; give the folder of that exercise itself: {}",
                                            one_line(file.string()), one_line(task.exercise.own->folder.string())));
}

}  // namespace

std::string make_autograder(const fs::path& path, const fs::path& program) {
  const GradedTask task = open_graded_task(path);
  const fs::path file = fs::is_directory(path) ? path / kTaskFile : path;
  ZipArchive zip;
  zip.add("setup.sh", kSetup, true);
  zip.add("run_autograder", kRun, true);
  zip.add(fmt::format("task/{}", kTaskFile), task_toml(file, task));
  if (task.exercise.own != nullptr) {
    const fs::path folder = task.exercise.own->folder;
    std::vector<fs::path> files;
    for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder))
      if (each.is_regular_file() && each.path().filename() != kTaskFile) files.push_back(each.path());
    std::sort(files.begin(), files.end());
    if (files.size() > kMostFiles)
      throw Error(ErrorCode::usage, fmt::format("{} has {} files; an exercise has at most {}",
                                                one_line(folder.string()), files.size(), kMostFiles));
    for (const fs::path& each : files)
      zip.add("task/" + fs::relative(each, folder).string(), read_text(each, kMostTaskFile, ErrorCode::usage));
  }
  const fs::path emulator = find_cuda_emulator();
  const auto& tracks = task.grading.tracks;
  if (emulator.empty() && (task.track == "cuda" || std::find(tracks.begin(), tracks.end(), "cuda") != tracks.end()))
    throw Error(ErrorCode::usage, "the track cuda needs libcuda_emulator.so beside this program, which lacks it");
  if (!emulator.empty()) zip.add("libcuda_emulator.so", read_text(emulator, kMostProgram, ErrorCode::usage));
  zip.add("lockstep", read_text(program, kMostProgram, ErrorCode::usage), true);
  return std::move(zip).finish();
}

}  // namespace lockstep::cli
