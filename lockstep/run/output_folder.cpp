#include "lockstep/run/output_folder.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* what, const fs::path& folder, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EIO || error_number == EMFILE ||
                    error_number == ENFILE || error_number == ENOMEM;
  std::string reason = std::generic_category().message(error_number);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  throw Error(full ? ExitCode::resources : ExitCode::usage,
              fmt::format("{} {}: {}; choose another folder", what, one_line(folder.string()), reason));
}

}  // namespace

void fail_output_folder(const fs::path& folder, int error_number) { fail("cannot create", folder, error_number); }

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_output_folder(folder, error.value());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail("cannot write to", folder, errno);
}

}  // namespace lockstep
