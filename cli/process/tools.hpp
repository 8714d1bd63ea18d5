#pragma once
// Optional helpers of experiments: a Python with certain modules, a script of bench/, a program on PATH.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

/// The path of this program.
std::string own_program();

/// The path of a program on PATH; nothing when there is none.
std::optional<std::string> find_program(const std::string& name);

/// Starts a program that outlives this one, in a session of its own and without its streams. Error(resources) where it
/// does not start.
void start_detached(const std::vector<std::string>& words);

/// A file of the source tree ("bench/reproduce/mpi_digits.py"): searched in the present folder and in those above this
/// program. Nothing where the program was installed without it.
std::optional<std::filesystem::path> find_in_tree(const std::filesystem::path& file);

/// A Python that imports all of these modules: $LOCKSTEP_PYTHON, the environments that `make peers` and `make test`
/// leave in build/, python3 on PATH, in this order.
std::optional<std::string> find_python(const std::vector<std::string>& modules);

/// A temporary folder; it and what is in it is removed at the end.
class TemporaryFolder {
 public:
  /// `purpose` is a part of its name.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path file(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lockstep::cli
