#pragma once
// lockstep exercise export and lockstep exercise test.

#include <string>

#include "cli/output/console.hpp"

namespace lockstep::cli {

struct ExportArguments {
  std::string folder{}, task{}, out{}, program{}, compiler{};
  bool gradescope = false, results = false, junit = false, markdown = false;
};

/// One form of one folder; on standard output without `out`. --gradescope makes the zip for a task, all others check
/// the folder and write what it gets. Error(usage) where no form, or several, are wanted.
void export_exercise(const ExportArguments& arguments, Console& console);

/// An own exercise: its oracle must be right, and every wrong variant must be rejected for its cause. Error(integrity)
/// where that is not so.
void test_own_exercise(const std::string& folder, Console& console);

}  // namespace lockstep::cli
