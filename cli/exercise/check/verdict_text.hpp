#pragma once
// A verdict for people and for other programs.

#include "cli/exercise/check/verdict.hpp"
#include "cli/output/json.hpp"

namespace lockstep::cli {

/// The verdict on a terminal.
std::string verdict_text(const Verdict& verdict);

/// Everything, with stable keys: what --json prints, the lines of worklog.jsonl, and exports read.
Json verdict_json(const Verdict& verdict);

}  // namespace lockstep::cli
