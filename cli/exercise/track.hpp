#pragma once
// A track: in which language, or with which kind of parallelism, an exercise is solved.

#include <string>
#include <vector>

#include "cli/exercise/exercise.hpp"

namespace lockstep::cli {

struct Track {
  std::string name{};                // "openmp"
  std::string words{};               // one line
  std::string source{};              // the student's file: "kernel.cpp"
  std::vector<std::string> flags{};  // of the compiler, besides those of all tracks
  bool threads = false;              // the kernel may use several, and is measured on 1, 2, 4, 8
  bool cuda = false;                 // CUDA text, run by the emulator
  bool opencl = false;               // OpenCL text, run by the first device
  bool python = false;               // Python text
  bool sanitizers = true;            // may be built with address and undefined-behaviour sanitizers
  bool timed = true;                 // its time means something
  std::string hint{};                // Markdown for the task: what this track asks for
  std::string prelude{};             // lines of the stub, before the function
};

/// All that there are, the easiest first.
const std::vector<Track>& tracks();
/// Error(usage) that names the nearest one.
const Track& track_named(const std::string& name);

/// The files of a new folder.
std::string header_text(const Exercise& exercise);
std::string python_header_text(const Exercise& exercise);
/// The header of a track: its file and its text.
std::string header_file(const Track& track);
std::string stub_text(const Exercise& exercise, const Track& track);
std::string task_text(const Exercise& exercise, const Track& track);

/// The flags of every build of a student's kernel.
const std::vector<std::string>& common_flags();

}  // namespace lockstep::cli
