// lockstep compare RUN RUN...: scores of runs beside each other, where their configurations differ, and the first epoch
// whose weights are not the same bits. --out writes a page with the curves over each other.

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/output/progress.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/run/compare.hpp"
#include "lockstep/run/output_folder.hpp"

namespace lockstep::cli {

namespace {

struct CompareArguments {
  std::vector<std::string> runs{};
  std::string out{};
};

void run_compare(const CompareArguments& arguments, Console& console) {
  if (arguments.runs.size() < 2) throw Error(ErrorCode::usage, "compare needs at least two run directories");
  const Comparison comparison = compare_runs({arguments.runs.begin(), arguments.runs.end()});
  const report::Document document = comparison_document(comparison);
  if (!arguments.out.empty()) {
    make_output_folder(arguments.out);
    for (const std::filesystem::path& file : report::write_report(document, arguments.out, {}))
      console.note(fmt::format("wrote {}", one_line(file.string())));
  }
  if (console.json()) return console.print(report::tables_json(document));
  console.print(report::to_text(document));
  for (const RunHistory& run : comparison.runs) {
    std::vector<double> losses;
    for (const RunEpoch& epoch : run.epochs) losses.push_back(epoch.scores.train.loss);
    if (losses.size() > 2) console.note(fmt::format("{}  {}", sparkline(losses, 40), one_line(run.name)));
  }
}

}  // namespace

RunCommand compare_command(Options& options) {
  const auto arguments = std::make_shared<CompareArguments>();
  options.examples(R"(Examples:
  lockstep compare runs/moons-1 runs/moons-2
  lockstep compare runs/sweep/* --out page)");
  options.arguments("runs", arguments->runs, {"RUN", "Run directories; the first is what the others are compared with"},
                    true);
  options.text("-o,--out", arguments->out, {"DIR", "Write the page report.html there"});
  return [arguments](Console& console) { run_compare(*arguments, console); };
}

}  // namespace lockstep::cli
