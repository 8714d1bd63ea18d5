#include "cli/rank_session.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/data_digest.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kMaxProgramBytes = std::int64_t{1} << 32;

/// An error that all ranks know of: rank 0 says it and nobody has to be ended by force.
struct AgreedError : Error {
  using Error::Error;
};

std::string text_hash(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

[[noreturn]] void end_with(const Ranks& ranks, ExitCode code, const std::string& message) {
  if (ranks.leader()) throw AgreedError(code, message);
  throw SilentEnd{};
}

/// All ranks come to such an end at the same step.
bool is_common(ExitCode code) { return code == ExitCode::diverged || code == ExitCode::preempted; }

}  // namespace

int threads_of_rank(const Transport& transport) {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int own = default_threads(), all = static_cast<int>(std::thread::hardware_concurrency());
  if ((wanted != nullptr && *wanted != '\0') || own < all) return own;
  return std::max(1, own / transport.local_size());
}

void prepare_together(Ranks& ranks, const std::function<void()>& preparation) {
  std::string outcome;  // empty: well; else the exit code as one character, and the message
  try {
    preparation();
  } catch (const Error& error) {
    outcome = static_cast<char>('0' + static_cast<int>(error.code())) + std::string(error.what());
  }
  const std::vector<std::string> outcomes = ranks.all_gather(outcome, "preparation");
  const std::vector<std::string> hosts = ranks.all_gather(ranks.transport().host(), "preparation");
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].empty()) continue;
    const std::string message = outcomes[rank].substr(1);
    end_with(ranks, static_cast<ExitCode>(outcomes[rank][0] - '0'),
             rank == 0 ? message : fmt::format("rank {} on {}: {}", rank, hosts[rank], message));
  }
}

std::string check_agreement(Ranks& ranks, const RunConfig& config, const DataSplits& data) {
  const std::vector<std::byte> program = read_file("/proc/self/exe", kMaxProgramBytes, ExitCode::resources);
  const std::string digest = data_digest(data);
  const std::pair<const char*, std::string> facts[] = {{"program", sha256_hex(program)},
                                                       {"configuration", text_hash(resolved_toml(config))},
                                                       {"data", digest},
                                                       {"numerics version", std::to_string(kNumericsVersion)}};
  for (const auto& [field, own] : facts) {
    const std::vector<std::string> all = ranks.all_gather(own, "agreement");
    const std::vector<std::string> hosts = ranks.all_gather(ranks.transport().host(), "agreement");
    for (std::size_t rank = 1; rank < all.size(); ++rank)
      if (all[rank] != all[0])
        end_with(ranks, ExitCode::usage,
                 fmt::format("rank {} on {} has another {} ({}) than rank 0 on {} ({}); all ranks must start with the "
                             "same",
                             rank, hosts[rank], field, all[rank].substr(0, 16), hosts[0], all[0].substr(0, 16)));
  }
  return digest;
}

void run_as_rank(const std::function<void(Ranks&)>& program, const std::function<void(const std::string&)>& say) {
  std::exception_ptr common;
  {
    Ranks ranks(connect_transport());
    const auto end_all = [&](ExitCode code, const std::string& message) {
      say(ranks.leader() ? message : fmt::format("rank {} on {}: {}", ranks.rank(), ranks.transport().host(), message));
      ranks.transport().abort(static_cast<int>(code));
    };
    try {
      program(ranks);
    } catch (const SilentEnd&) {
      common = std::current_exception();
    } catch (const AgreedError&) {
      common = std::current_exception();
    } catch (const Error& error) {
      common = std::current_exception();
      if (ranks.size() > 1 && !is_common(error.code())) end_all(error.code(), error.what());
      if (ranks.size() > 1 && !ranks.leader()) common = std::make_exception_ptr(SilentEnd{});
    } catch (const std::exception& error) {
      if (ranks.size() == 1) throw;
      end_all(ExitCode::bug, error.what());
    }
  }
  if (common) std::rethrow_exception(common);
}

}  // namespace lockstep::cli
