#include "cli/exercise/grading/formats.hpp"

#include <fmt/format.h>

#include "cli/exercise/check/verdict_text.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/lab/report/escape.hpp"

namespace lockstep::cli {

namespace {

std::string xml(const std::string& text) {
  std::string clean;
  for (const char c : text)  // XML 1.0 has no other control characters, escaped or not
    if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') clean += c;
  return report::escape_html(clean);
}

/// A cell of a table: one line, without bars.
std::string cell(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(" ") : c == '|' ? std::string("\\|") : std::string(1, c);
  return line;
}

Json leaderboard(const Grade& grade) {
  Json board = Json::array();
  if (!grade.grading.leaderboard || !grade.verdict || !grade.verdict->right() || !grade.verdict->speed) return board;
  const SpeedFindings& speed = *grade.verdict->speed;
  const auto percent = [](double share) { return std::round(1000 * share) / 10; };
  board.push_back({{"name", "% of SIMD"}, {"value", percent(speed.of_simd)}, {"order", "desc"}});
  board.push_back({{"name", "% of roof"}, {"value", percent(speed.of_roof)}, {"order", "desc"}});
  board.push_back({{"name", "us per call"}, {"value", std::round(1e7 * speed.rows[0].seconds) / 10}, {"order", "asc"}});
  return board;
}

}  // namespace

Json gradescope_results(const Grade& grade) {
  Json tests = Json::array();
  for (const GradedTest& each : grade.tests)
    tests.push_back({{"name", each.name},
                     {"score", each.score},
                     {"max_score", each.most},
                     {"status", each.passed ? "passed" : "failed"},
                     {"output", each.output},
                     {"visibility", grade.grading.visibility}});
  Json results = {{"score", grade.score()},
                  {"execution_time", grade.seconds},
                  {"output", fmt::format("{}, track {}: {}.", grade.exercise, grade.track, points_text(grade))},
                  {"visibility", grade.grading.visibility},
                  {"stdout_visibility", "hidden"},
                  {"tests", std::move(tests)}};
  if (grade.grading.leaderboard) results["leaderboard"] = leaderboard(grade);
  return results;
}

Json grade_json(const Grade& grade) {
  Json tests = Json::array();
  for (const GradedTest& each : grade.tests)
    tests.push_back({{"name", each.name},
                     {"points", each.score},
                     {"most", each.most},
                     {"passed", each.passed},
                     {"output", each.output}});
  return {{"exercise", grade.exercise}, {"track", grade.track},
          {"points", grade.score()},    {"most", grade.most()},
          {"seconds", grade.seconds},   {"tests", std::move(tests)},
          {"version", version()},       {"check", grade.verdict ? verdict_json(*grade.verdict) : Json()}};
}

std::string grade_junit(const Grade& grade) {
  std::string cases;
  int failures = 0;
  for (const GradedTest& each : grade.tests) {
    const bool first = &each == &grade.tests.front();
    cases += fmt::format("    <testcase classname=\"lockstep.{}.{}\" name=\"{}\" time=\"{:.3f}\">\n",
                         xml(grade.exercise), xml(grade.track), xml(each.name), first ? grade.seconds : 0.0);
    if (!each.passed) {
      ++failures;
      const std::string line = each.output.substr(0, each.output.find('\n'));
      cases += fmt::format("      <failure message=\"{}\">{}</failure>\n", xml(line), xml(each.output));
    } else {
      cases += fmt::format("      <system-out>{}</system-out>\n", xml(each.output));
    }
    cases += "    </testcase>\n";
  }
  const std::string counts =
      fmt::format("name=\"lockstep {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\"", xml(grade.exercise),
                  grade.tests.size(), failures, grade.seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite {}>\n    <properties>\n"
      "      <property name=\"points\" value=\"{}\"/>\n      <property name=\"most\" value=\"{}\"/>\n    "
      "</properties>\n"
      "{}  </testsuite>\n</testsuites>\n",
      counts, grade.score(), grade.most(), cases);
}

std::string grade_markdown(const Grade& grade) {
  std::string text = fmt::format("# {}, track {}\n\n**{}**\n\n| test | points | of | |\n| --- | --: | --: | --- |\n",
                                 grade.exercise, grade.track, points_text(grade));
  for (const GradedTest& each : grade.tests)
    text += fmt::format("| {} | {:.4g} | {:.4g} | {} |\n", cell(each.name), each.score, each.most, cell(each.output));
  if (!grade.verdict || !grade.verdict->speed) return text;
  text += "\n| kernel | threads | time per call (s) |\n| --- | --: | --: |\n";
  for (const SpeedRow& row : grade.verdict->speed->rows)
    text += fmt::format("| {} | {} | {:.4g} |\n", row.name, row.threads, row.seconds);
  for (const SpeedRow& row : grade.verdict->speed->scaling)
    text += fmt::format("| {}, scaling | {} | {:.4g} |\n", row.name, row.threads, row.seconds);
  return text;
}

}  // namespace lockstep::cli
