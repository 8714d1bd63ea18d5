#include "cli/exercise/check/verdict_text.hpp"

#include <fmt/format.h>

#include "lockstep/core/names.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/report/cell.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

std::string seconds_text(double seconds) { return report::format_number(seconds, report::seconds()); }

std::string headline(const Verdict& verdict) {
  switch (verdict.tier) {
    case Tier::right:
      return "RIGHT: the bits of the contract in every case.";
    case Tier::another_order:
      return "RIGHT WITHIN ROUNDING, but not in the order of the contract.";
    case Tier::wrong:
      return "WRONG.";
    case Tier::crashed:
      return "CRASHED.";
    case Tier::rejected:
      return "REJECTED.";
    case Tier::suspicious:
      return "SUSPICIOUS.";
    case Tier::not_built:
      return "NOT BUILT.";
  }
  return {};
}

std::string speed_text(const SpeedFindings& speed) {
  TextTable table("lrrrr");
  table.row({"", "threads", "time per call", "interval", "x naive"});
  for (const SpeedRow& row : speed.rows)
    table.row({row.name, std::to_string(row.threads), seconds_text(row.seconds),
               row.samples < 6 ? too_few_text(row.samples)
                               : fmt::format("{} - {}", seconds_text(row.low), seconds_text(row.high)),
               fmt::format("{:.2f}", speed.rows[1].seconds / row.seconds)});
  std::string text = "\n" + table.str(2);
  if (!speed.scaling.empty()) {
    TextTable scaling("rrrrr");
    scaling.row({"threads", "time per call", "speed-up", "efficiency", "Karp-Flatt"});
    const double one = speed.scaling.front().seconds;
    for (const SpeedRow& row : speed.scaling) {
      const double speed_up = one / row.seconds;
      scaling.row({std::to_string(row.threads), seconds_text(row.seconds), fmt::format("{:.2f}", speed_up),
                   fmt::format("{:.0f} %", 100 * speed_up / row.threads),
                   row.threads == 1 ? "-" : fmt::format("{:.3f}", karp_flatt(speed_up, row.threads))});
    }
    text += "\n" + scaling.str(2);
  }
  return text + fmt::format(
                    "\n  {:.2f} times naive, {:.0f} % of our SIMD kernel, {:.0f} % of the roof ({}).\n  Limit: {}.\n  "
                    "Next: {}.\n",
                    speed.of_naive, 100 * speed.of_simd, 100 * speed.of_roof, speed.roof, speed.limit, speed.next);
}

Json row_json(const SpeedRow& row) {
  return {{"name", row.name}, {"threads", row.threads}, {"seconds", row.seconds},
          {"low", row.low},   {"high", row.high},       {"samples", row.samples}};
}

}  // namespace

std::string verdict_text(const Verdict& verdict) {
  std::string text = headline(verdict) + "\n";
  for (const std::string& words : verdict.words) text += "  " + words + "\n";
  if (!verdict.first_wrong.empty()) text += fmt::format("  First: {}\n", verdict.first_wrong);
  if (verdict.largest_ulp > 0)
    text += fmt::format(
        "  Largest difference: {:.0f} units in the last place. Keeping the order costs nothing where different "
        "results\n"
        "  are computed side by side.\n",
        verdict.largest_ulp);
  if (verdict.cases > 0 && verdict.right_cases < verdict.cases)
    text += fmt::format("  {} of {} cases were right.\n", verdict.right_cases, verdict.cases);
  for (const std::string& check : verdict.checks) text += "  " + check + "\n";
  if (verdict.speed) text += speed_text(*verdict.speed);
  return text + fmt::format("  ({:.1f} s; secret seed {})\n", verdict.seconds, verdict.secret_seed);
}

Json verdict_json(const Verdict& verdict) {
  Json json = {{"exercise", verdict.exercise},
               {"track", verdict.track},
               {"verdict", name_of(verdict.tier)},
               {"cause", verdict.cause},
               {"words", verdict.words},
               {"first_wrong", verdict.first_wrong},
               {"cases", verdict.cases},
               {"right_cases", verdict.right_cases},
               {"largest_ulp", verdict.largest_ulp},
               {"checks", verdict.checks},
               {"source", verdict.source_hash},
               {"secret_seed", verdict.secret_seed},
               {"seconds", verdict.seconds}};
  if (!verdict.speed) return json;
  const SpeedFindings& speed = *verdict.speed;
  Json rows = Json::array(), scaling = Json::array();
  for (const SpeedRow& row : speed.rows) rows.push_back(row_json(row));
  for (const SpeedRow& row : speed.scaling) {
    Json line = row_json(row);
    const double speed_up = speed.scaling.front().seconds / row.seconds;
    line["speed_up"] = speed_up;
    line["efficiency"] = speed_up / row.threads;
    if (row.threads > 1) line["karp_flatt"] = karp_flatt(speed_up, row.threads);
    scaling.push_back(std::move(line));
  }
  json["speed"] = {{"rows", std::move(rows)},        {"scaling", std::move(scaling)},
                   {"times_naive", speed.of_naive},  {"share_of_simd", speed.of_simd},
                   {"share_of_roof", speed.of_roof}, {"roof", speed.roof},
                   {"limit", speed.limit},           {"next", speed.next}};
  return json;
}

}  // namespace lockstep::cli
