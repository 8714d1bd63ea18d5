#include "cli/output/results_folder.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/output_folder.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

fs::path prepare_results_folder(const std::string& path, const std::string& name, bool overwrite) {
  fs::path folder = path;
  if (path.empty()) {
    int number = 1;
    while (fs::exists(folder = fs::path("runs") / fmt::format("{}-{}", name, number))) ++number;
  } else if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder))) {
    const bool ours = fs::exists(folder / kResultsFile);
    if (!ours || !overwrite)
      throw Error(ErrorCode::usage, fmt::format("--out {}: {}", path,
                                                ours ? "holds an earlier measurement; --overwrite replaces it"
                                                     : "exists and is no measurement of Lockstep's"));
  }
  std::error_code error;
  // A report of what is about to be replaced would say the wrong thing, should this measurement be stopped.
  for (const char* report : {"report.html", "report.json"}) fs::remove(folder / report, error);
  make_output_folder(folder);
  return folder;
}

void write_results(const fs::path& folder, const std::vector<Result>& results) {
  std::string lines;
  for (const Result& each : results) lines += to_json_line(each) + "\n";
  write_file_atomically(folder / kResultsFile, lines);
}

}  // namespace lockstep::cli
