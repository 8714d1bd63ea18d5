#pragma once
// The folder that a run writes: config.toml, metrics.jsonl, timings.jsonl, checkpoint-<step>.safetensors,
// model.safetensors, machine.json, answers.json, report.html, status.json, certificate.json, and when profiled also
// profile.json and trace.json.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "lockstep/core/sha256.hpp"

namespace lockstep {

inline constexpr const char* kConfigFile = "config.toml";
inline constexpr const char* kMetricsFile = "metrics.jsonl";
inline constexpr const char* kTimingsFile = "timings.jsonl";
/// What the names of TensorBoard's event files begin with.
inline constexpr const char* kEventsPrefix = "events.out.tfevents.";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kBestModelFile = "model-best.safetensors";  // with train.early_stopping
inline constexpr const char* kProfileFile = "profile.json";
inline constexpr const char* kTraceFile = "trace.json";
inline constexpr const char* kResultsFile = "results.jsonl";  // of measurements
inline constexpr const char* kMachineFile = "machine.json";
inline constexpr const char* kAnswersFile = "answers.json";  // for the report: see pages/answers.hpp
inline constexpr const char* kReportFile = "report.html";
inline constexpr const char* kStatusFile = "status.json";
inline constexpr const char* kCertificateFile = "certificate.json";  // of a complete run (certificate.hpp)

struct RunDirectoryOptions {
  std::string path{};      // empty: runs/<name>-<n>, with the first n that is free
  std::string name{};      // of the configuration
  bool overwrite = false;  // an earlier run at `path` may be replaced
  bool resume = false;     // continue an earlier run at `path`: its files are kept
  bool resumable = true;   // the caller can resume runs
};

/// Error(usage) when options.path holds files other than an earlier run that may be replaced or resumed. For an early
/// refusal.
void check_run_directory(const RunDirectoryOptions& options);

/// An open run directory. It is locked while this object lives, so that two runs cannot write into one.
class RunDirectory {
 public:
  /// Makes the folder, or clears the files of the earlier run (unless it is resumed); temporary files of a killed
  /// run are removed in any case. Error(usage) as check_run_directory; Error(in_use) when another run holds the lock;
  /// Error(resources) when the folder cannot be made or written.
  explicit RunDirectory(const RunDirectoryOptions& options);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const char* name) const { return path_ / name; }

  /// Removes the files of the earlier run.
  void clear() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// A file that grows by whole lines. Each line is written by one call, so a reader never sees half of one.
class LineFile {
 public:
  /// Keeps the first `kept` bytes of a file that is there.
  explicit LineFile(std::filesystem::path path, std::int64_t kept = 0);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Appends the text and a newline. Error(resources) when it cannot be written.
  void append(std::string_view text);

  std::int64_t bytes() const { return bytes_; }
  /// Of the whole file, in hex.
  std::string sha256() const;
  /// Returns when the lines so far are on the disk. May be called while another thread appends.
  void sync() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
  Sha256 hash_;
  mutable std::atomic<bool> named_ = false;  // its entry in the folder is on the disk
};

}  // namespace lockstep
