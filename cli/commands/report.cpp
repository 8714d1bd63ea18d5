// lockstep report DIR|FILE: the report of a training run or of measurements, made again from their files: report.html
// (and, of measurements, report.json; --csv and --extra-p add theirs), and the same printed as text. Measures nothing.
// Error(usage) for a folder without anything to report on, Error(data) for what cannot be read.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/ladder/report.hpp"
#include "cli/process/tools.hpp"
#include "cli/reproduce/reproduce.hpp"
#include "cli/simulate/document.hpp"
#include "cli/simulate/validate.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/output_folder.hpp"
#include "lockstep/run/report.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

struct ReportArguments {
  std::string path{};  // a run directory, a folder with results.jsonl, or such a file
  std::string out{};   // where the files go; empty: beside what they are made from
  bool csv = false, extra_p = false, open = false;
};

/// Which command draws which results: a file of results is shown by the first entry whose kind occurs in it. Kinds that
/// lead a file stand before those that accompany others (fit, roofline, section, curve, verdict, check), which have no
/// entry: alone they come out as plain tables. Add a kind here.
struct ReportKind {
  std::string_view kind;  // one of result_kinds()
  report::Document (*make)(std::span<const Result> results);
};
constexpr ReportKind kKinds[] = {
    {"ladder", ladder_document},         {"experiment", experiment_document},       {"simulation", simulation_document},
    {"validation", validation_document}, {"measurement", report::results_document},
};

report::Document document_of(std::span<const Result> results) {
  for (const ReportKind& entry : kKinds)
    if (std::any_of(results.begin(), results.end(), [&](const Result& result) { return result.kind == entry.kind; }))
      return entry.make(results);
  return report::results_document(results);
}

struct Made {
  report::Document document;
  fs::path folder;  // of what it was made from
  bool run = false;
};

Made make(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw Error(ErrorCode::usage, fmt::format("{}: there is no such file", path.string()));
  if (!fs::is_directory(path, error)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return {.document = document_of(read_results(path)), .folder = folder};
  }
  if (fs::exists(path / kResultsFile, error))
    return {.document = document_of(read_results(path / kResultsFile)), .folder = path};
  if (fs::exists(path / kMetricsFile, error)) return {.document = run_document(path), .folder = path, .run = true};
  throw Error(ErrorCode::usage,
              fmt::format("{}: holds neither {} nor {}; give the folder of a run, or a file of results", path.string(),
                          kResultsFile, kMetricsFile));
}

/// Shows the page in the user's browser, which outlives this program.
void open_page(const fs::path& page) {
  const auto opener = find_program("xdg-open");
  if (!opener)
    throw Error(ErrorCode::usage,
                fmt::format("--open needs the program xdg-open (Debian: xdg-utils); open {} in a browser",
                            one_line(fs::absolute(page).string())));
  start_detached({*opener, fs::absolute(page).string()});
}

void run_report(const ReportArguments& arguments, Console& console) {
  const Made made = make(arguments.path);
  const fs::path folder = arguments.out.empty() ? made.folder : fs::path(arguments.out);
  if (!arguments.out.empty()) make_output_folder(folder);
  const report::FileOptions files{
      .json = !made.run || !arguments.out.empty(), .csv = arguments.csv, .extra_p = arguments.extra_p};
  const auto written = report::write_report(made.document, folder, files);
  console.print(console.json() ? report::tables_json(made.document) : report::to_text(made.document));
  for (const fs::path& file : written) console.note(fmt::format("wrote {}", one_line(file.string())));
  if (arguments.open) open_page(folder / kReportFile);
}

}  // namespace

RunCommand report_command(Options& options) {
  const auto arguments = std::make_shared<ReportArguments>();
  options.examples(R"(Examples:
  lockstep report runs/moons-1                  report.html in the run directory
  lockstep report runs/moons-1 --open           and in the browser
  lockstep report runs/ladder --csv --extra-p   every table as .csv, scaling tables as Extra-P's JSON lines
  lockstep report results.jsonl --out page)");
  options.argument("path", arguments->path,
                   {"DIR|FILE", "A run directory, a folder with results.jsonl, or such a file"});
  options.text("-o,--out", arguments->out, {"DIR", "Where the files go; default: beside what they are made from"});
  options.flag("--csv", arguments->csv, "Write every table as .csv too");
  options.flag("--extra-p", arguments->extra_p, "Write tables of scaling as JSON lines for Extra-P too");
  options.flag("--open", arguments->open, "Show report.html in the browser");
  return [arguments](Console& console) { run_report(*arguments, console); };
}

}  // namespace lockstep::cli
