#include "lockstep/run/status.hpp"

#include <unistd.h>

#include <new>

#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/rank_session.hpp"
#include "lockstep/run/resume.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

// Each one is written through to the disk.
constexpr std::chrono::seconds kBetween{5};
constexpr std::int64_t kMaxBytes = 1 << 20;

/// A path need not be UTF-8.
std::string written_form(const Json& status) {
  return status.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const char* state_of(int exit_code) {
  switch (static_cast<ErrorCode>(exit_code)) {
    case ErrorCode::done:
      return "finished";
    case ErrorCode::preempted:
      return "stopped";
    case ErrorCode::peer_lost:
      return "lost";
    case ErrorCode::diverged:
      return "diverged";
    default:
      return "failed";
  }
}

}  // namespace

void RunStatus::begin(const std::filesystem::path& directory, int ranks, std::int64_t epochs) {
  {
    const std::lock_guard lock(mutex_);
    directory_ = directory;
    ranks_ = ranks;
    epochs_ = epochs;
    began_ = utc_now();
  }
  write();
}

void RunStatus::note(std::int64_t epoch, std::int64_t step) {
  {
    const std::lock_guard lock(mutex_);
    epoch_ = epoch;
    step_ = step;
    if (decided_ || std::chrono::steady_clock::now() - written_ < kBetween) return;
  }
  write();
}

void RunStatus::decide(int exit_code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (decided_) return;
  decided_ = true;
  exit_code_ = exit_code;
  message_ = message;
}

void RunStatus::decide(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ReportedByRank0&) {
  } catch (const Error& error) {
    decide(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    decide(static_cast<int>(ErrorCode::resources), "out of memory");
  } catch (const std::exception& error) {
    decide(static_cast<int>(ErrorCode::bug), error.what());
  }
}

void RunStatus::write() {
  const std::lock_guard lock(file_);
  const std::string content = text();
  try {
    if (!content.empty()) write_file_atomically(directory_ / kStatusFile, content);
  } catch (const Error&) {
  }
  if (!content.empty() || expected_.empty()) return;
  std::string message;
  {
    const std::lock_guard decision(mutex_);
    message = message_;
  }
  if (message.starts_with("rank 0 on ")) note_lost(expected_, message);
}

/// Empty before the run has begun.
std::string RunStatus::text() {
  const std::lock_guard lock(mutex_);
  if (directory_.empty()) return "";
  written_ = std::chrono::steady_clock::now();
  const bool finished = decided_ && exit_code_ == 0;
  const Json status = {{"state", decided_ ? state_of(exit_code_) : "running"},
                       {"epoch", epoch_},
                       {"epochs", epochs_},
                       {"step", step_},
                       {"exit_code", decided_ ? Json(exit_code_) : Json()},
                       {"message", one_line(message_)},
                       {"resume", finished ? Json() : Json(resume_command(directory_))},
                       {"ranks", ranks_},
                       {"host", host_name()},
                       {"process", ::getpid()},
                       {"began", began_},
                       {"time", utc_now()}};
  return written_form(status);
}

void note_lost(const std::filesystem::path& directory, const std::string& message) {
  try {
    Json status = Json::parse(read_text(directory / kStatusFile, kMaxBytes));
    if (status.at("state") != "running") return;
    const int exit_code = static_cast<int>(ErrorCode::peer_lost);
    status["state"] = state_of(exit_code);
    status["exit_code"] = exit_code;
    status["message"] = one_line(message);
    status["time"] = utc_now();
    write_file_atomically(directory / kStatusFile, written_form(status));
  } catch (const Error&) {
  } catch (const Json::exception&) {
  }
}

}  // namespace lockstep
