// lockstep: train | eval | predict | inspect | export | bench | reproduce | ladder | report | doctor | launch |
// simulate. Results on stdout, everything else on stderr; every failure is one line and an exit code of
// lockstep/core/error.hpp.

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <typeinfo>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/output/console.hpp"
#include "cli/output/option_names.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/run/rank_session.hpp"

namespace {

using lockstep::ErrorCode;

int fail(lockstep::cli::Console& console, ErrorCode code, std::string_view message) {
  console.fail(fmt::format("lockstep: {}", lockstep::one_line(lockstep::cli::with_option_names(message))));
  return static_cast<int>(code);
}

int run(int argc, char** argv, lockstep::cli::Console& console) {
  const lockstep::cli::Request request = lockstep::cli::parse_arguments(argc, argv);
  console = lockstep::cli::Console(request.console);
  if (request.run) {
    lockstep::check_environment();
    request.run(console);
  } else {
    console.print(request.text);
  }
  return static_cast<int>(ErrorCode::done);
}

/// Runs a command; every failure becomes a line and a code.
int run_and_report(int argc, char** argv) {
  lockstep::cli::prepare_standard_streams();
  lockstep::cli::Console console;
  try {
    return run(argc, argv, console);
  } catch (const lockstep::ReportedByRank0&) {
    return static_cast<int>(ErrorCode::done);
  } catch (const lockstep::Error& error) {
    return fail(console, error.code(), error.what());
  } catch (const lockstep::cli::SilentEnd& end) {
    return end.exit_code;
  } catch (const std::bad_alloc&) {
    return fail(console, ErrorCode::resources,
                "out of memory; a smaller train.batch, data.limit or data.stream needs less");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(console, ErrorCode::resources, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return fail(console, ErrorCode::bug,
                fmt::format("this is a fault of Lockstep, please report it with the command: {}", error.what()));
  }
}

/// There was no memory for the message of a failure either.
int say_out_of_memory() {
  constexpr std::string_view kLine = "lockstep: out of memory\n";
  static_cast<void>(!::write(STDERR_FILENO, kLine.data(), kLine.size()));
  return static_cast<int>(ErrorCode::resources);
}

std::atomic<bool> memory_ended = false;
std::terminate_handler usual_end = nullptr;

void note_end_of_memory() {
  memory_ended = true;
  throw std::bad_alloc();
}

/// Destructors of nlohmann-json and std::filesystem's functions without exceptions allocate: without memory they end
/// the process. Where they do, there may be no exception to look at.
void end_process() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (memory_ended && (type == nullptr || *type == typeid(std::bad_alloc))) ::_exit(say_out_of_memory());
  usual_end();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(note_end_of_memory);
  usual_end = std::set_terminate(end_process);
  try {
    return run_and_report(argc, argv);
  } catch (const std::bad_alloc&) {
    return say_out_of_memory();
  }
}
