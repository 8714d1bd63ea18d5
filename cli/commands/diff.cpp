// lockstep diff RUN RUN: where two runs that should agree part, and which of them this machine computes. Exit code 9
// where they differ.

#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/process/stop_signal.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/run/output_folder.hpp"
#include "lockstep/run/run_diff.hpp"

namespace lockstep::cli {

namespace {

struct DiffArguments {
  std::string first{}, second{}, out{};
  DiffOptions options{};
};

void run_diff(const DiffArguments& arguments, Console& console) {
  DiffOptions options = arguments.options;
  options.stop = stop_requested;
  catch_stop_signals();
  const RunDiff found = diff_runs(arguments.first, arguments.second, options);
  const report::Document document = found.document();
  if (!arguments.out.empty()) {
    make_output_folder(arguments.out);
    for (const std::filesystem::path& file : report::write_report(document, arguments.out, {}))
      console.note(fmt::format("wrote {}", one_line(file.string())));
  }
  console.print(console.json() ? found.json() : report::to_text(document));
  if (found.agree) return;
  throw Error(ErrorCode::integrity,
              fmt::format("{} and {} differ: {}", one_line(found.names[0]), one_line(found.names[1]),
                          found.step ? fmt::format("in step {}, {}", *found.step, found.phase)
                                     : fmt::format("after step {}, by step {}", found.last_same, found.first_other)));
}

}  // namespace

RunCommand diff_command(Options& options) {
  const auto arguments = std::make_shared<DiffArguments>();
  options.examples(R"(Examples:
  lockstep diff runs/laptop runs/server                 # the same configuration and data, other bits: where?
  lockstep diff runs/simd runs/library --out page       # how the difference of a library's rounding grows

Between the last point where the files agree and the first where they do not, the training is computed again by
--backend, and by the backend of each run where that is another one; the data must be where the runs found them. Runs
that keep all checkpoints (checkpoint.keep = 0) need the shortest replays. Exit code 9: the runs differ.)");
  options.argument("first", arguments->first, {"RUN", "A run directory"});
  options.argument("second", arguments->second, {"RUN", "Another one, of the same configuration and data"});
  options.backend(arguments->options.backend);
  options.threads(arguments->options.threads);
  options.text("-o,--out", arguments->out, {"DIR", "Write the page report.html there"});
  return [arguments](Console& console) { run_diff(*arguments, console); };
}

}  // namespace lockstep::cli
