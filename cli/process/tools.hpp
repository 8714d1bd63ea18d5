#pragma once
// Optional helpers of experiments: a Python with certain modules, a script of bench/, a program on PATH.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

/// The path of a program on PATH; nothing when there is none.
std::optional<std::string> find_program(const std::string& name);

/// A file of the source tree ("bench/reproduce/mpi_digits.py"): searched in the present folder and in those above this
/// program. Nothing where the program was installed without it.
std::optional<std::filesystem::path> find_in_tree(const std::filesystem::path& file);

/// A Python that imports all of these modules: $LOCKSTEP_PYTHON, the environments that `make peers` and `make test`
/// leave in build/, python3 on PATH, in this order.
std::optional<std::string> find_python(const std::vector<std::string>& modules);

}  // namespace lockstep::cli
