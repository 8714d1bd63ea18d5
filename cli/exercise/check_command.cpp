// lockstep check DIR: builds the student's kernel, compares it with the contract, explains, measures.

#include <memory>

#include <fmt/format.h>

#include "cli/exercise/check/check.hpp"
#include "cli/exercise/check/verdict_text.hpp"
#include "cli/exercise/commands.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/exercise/grading/grade.hpp"
#include "cli/exercise/work_log.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

struct CheckArguments {
  std::string folder{}, compiler{}, seed{};
  bool quick = false;
  double limit = 0;  // 0: what task.toml says
};

/// The exit code of a solution that is not right.
constexpr int kNotRight = static_cast<int>(ErrorCode::integrity);

void run_check(const CheckArguments& arguments, Console& console) {
  const ExerciseFolder folder = open_exercise_folder(arguments.folder);
  CheckOptions options{.source = folder.source(),
                       .compiler = arguments.compiler,
                       .sanitize = !arguments.quick,
                       .speed = !arguments.quick,
                       .call_seconds = arguments.limit > 0   ? arguments.limit
                                       : folder.task.grading ? folder.task.grading->limit
                                                             : Grading{}.limit};
  if (!arguments.seed.empty()) {
    options.secret_seed = parse_number<std::uint64_t>(arguments.seed);
    if (!options.secret_seed) throw Error(ErrorCode::usage, "--seed takes a whole number, as a verdict shows it");
  }
  const Verdict verdict = check_kernel(*folder.exercise, *folder.track, options, console);
  add_to_work_log(folder, verdict);
  console.print(console.json() ? verdict_json(verdict).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                               : verdict_text(verdict));
  if (folder.task.grading && !console.json() && !arguments.quick)
    console.print(fmt::format("  {}.\n", points_text(grade_verdicts(*folder.task.grading, {verdict}))));
  if (!verdict.right()) throw SilentEnd{kNotRight};
}

}  // namespace

RunCommand check_kernel_command(Options& options) {
  const auto arguments = std::make_shared<CheckArguments>();
  options.examples(R"(Examples:
  lockstep check linear-forward              builds, compares, explains, measures: about 10 s
  lockstep check linear-forward --quick      compares and explains only
Ends with 0 where the kernel is right, with 9 where it is not.)");
  options.argument("folder", arguments->folder, {"DIR", "A folder that `lockstep exercise new` made"});
  options.flag("--quick", arguments->quick, "No sanitizers and no measurements");
  options.text("--compiler", arguments->compiler, {"PROGRAM", "Default: g++, else clang++"});
  options.text("--seed", arguments->seed, {"N", "The secret numbers of an earlier check again"});
  options.number("--limit", arguments->limit, 0.1, 600,
                 {"SECONDS", "That one call may take; default: 10, or what task.toml says"});
  return [arguments](Console& console) { run_check(*arguments, console); };
}

}  // namespace lockstep::cli
