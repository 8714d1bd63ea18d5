#include "cli/reproduce/claim.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr double kNearly = 0.9;            // of a claimed speed-up
constexpr std::size_t kFewestSamples = 3;  // two can agree, or differ, by chance

/// Where the median lies: its 95 % interval, or all samples where they are too few for one.
MedianInterval spread_of(const Result& timing) {
  const Summary summary = *timing.summary();
  if (summary.interval) return *summary.interval;
  return {.low = summary.min, .high = summary.max};
}

std::string capitalised(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

report::Notice notice_of(const Judgement& judgement) {
  using Kind = report::Notice::Kind;
  return {.kind = judgement.verdict == ClaimVerdict::holds       ? Kind::good
                  : judgement.verdict == ClaimVerdict::not_shown ? Kind::info
                                                                 : Kind::warning,
          .word = capitalised(judgement.word()) + ".",
          .text = judgement.facts};
}

std::string published_of(const Claim& claim, const Judgement& judgement) {
  const std::string& own = judgement.published.empty() ? claim.published : judgement.published;
  return own.empty() ? "no number" : own;
}

/// "Published: 1.75×, here: 1.9×" and the figures as a sentence.
report::Rule rule_of(const Claim& claim, const Judgement& judgement) {
  constexpr report::Rule::State kStates[] = {report::Rule::State::kept, report::Rule::State::partly,
                                             report::Rule::State::broken, report::Rule::State::not_applicable};
  std::string numbers = claim.label.empty() ? "Lockstep's own claim" : "Published: " + published_of(claim, judgement);
  numbers += judgement.here.empty() ? "." : fmt::format(", here: {}.", judgement.here);
  return {.state = kStates[static_cast<std::size_t>(judgement.verdict)],
          .rule = claim.text,
          .why = fmt::format("{} {}", numbers, judgement.facts),
          .word = std::string(judgement.word())};
}

}  // namespace

std::string_view Judgement::word() const {
  constexpr std::string_view kWords[] = {"holds", "holds in part", "does not hold", "not shown here"};
  if (verdict == ClaimVerdict::not_shown && here.empty()) return "cannot be tested here";
  return kWords[static_cast<std::size_t>(verdict)];
}

std::string ratio_text(double ratio) {
  return ratio < 100 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string Comparison::words() const {
  const std::string before = ratio_text(ratio) + " times as fast";
  if (!enough) return fmt::format("{} (fewer than {} samples: no verdict)", before, kFewestSamples);
  return fmt::format("{} (between {} and {})", before, ratio_text(low), ratio_text(high));
}

std::optional<Comparison> compare(const Result* before, const Result* after) {
  if (before == nullptr || after == nullptr || before->samples.empty() || after->samples.empty()) return std::nullopt;
  const MedianInterval one = spread_of(*before), two = spread_of(*after);
  return Comparison{.ratio = median_of(*before) / median_of(*after),
                    .low = one.low / two.high,
                    .high = one.high / two.low,
                    .enough = std::min(before->samples.size(), after->samples.size()) >= kFewestSamples};
}

Judgement judge_speed_up(double claimed, const std::optional<Comparison>& comparison, const std::string& subject) {
  if (!comparison) return {.facts = "This run has no times for it."};
  Judgement judgement{.here = ratio_text(comparison->ratio) + "×",
                      .facts = fmt::format("{} {}.", subject, comparison->words())};
  if (comparison->faster())
    judgement.verdict = comparison->ratio >= kNearly * claimed ? ClaimVerdict::holds : ClaimVerdict::in_part;
  else if (comparison->slower() || (comparison->enough && comparison->high < kNearly * claimed))
    judgement.verdict = ClaimVerdict::fails;
  return judgement;
}

ClaimVerdict judge_distance(double distance, double near, double far) {
  return distance <= near ? ClaimVerdict::holds : distance <= far ? ClaimVerdict::in_part : ClaimVerdict::fails;
}

Judgement judge_same_hashes(const std::vector<std::string>& hashes, const std::string& first) {
  if (hashes.size() < 2) return {.facts = "Fewer than two trainings were done."};
  const auto same = hashes[0].empty() ? 0 : std::count(hashes.begin(), hashes.end(), hashes[0]);
  return {.verdict = same == std::ssize(hashes) ? ClaimVerdict::holds : ClaimVerdict::fails,
          .here = fmt::format("{} of {}", same, hashes.size()),
          .facts = fmt::format("{} of {} trainings end with the weights of \"{}\", bit for bit.", same, hashes.size(),
                               first)};
}

ClaimVerdict judge_together(const std::vector<ClaimVerdict>& verdicts) {
  const auto count = [&](ClaimVerdict verdict) { return std::count(verdicts.begin(), verdicts.end(), verdict); };
  const auto shown = std::ssize(verdicts) - count(ClaimVerdict::not_shown);
  if (shown == 0) return ClaimVerdict::not_shown;
  if (count(ClaimVerdict::holds) == shown) return ClaimVerdict::holds;
  return count(ClaimVerdict::fails) == shown ? ClaimVerdict::fails : ClaimVerdict::in_part;
}

Judgement judge_together(const std::vector<Judgement>& parts, const std::string& none) {
  std::vector<ClaimVerdict> verdicts;
  std::vector<std::string> here, facts;
  for (const Judgement& part : parts) {
    verdicts.push_back(part.verdict);
    here.push_back(part.here);
    facts.push_back(part.facts);
  }
  return {.verdict = judge_together(verdicts),
          .here = fmt::format("{}", fmt::join(here, " and ")),
          .facts = parts.empty() ? none : fmt::format("{}", fmt::join(facts, " "))};
}

void add_claims(const std::vector<Claim>& claims, const Findings& findings, report::Document& document) {
  report::Section& section = document.section("The claim, and what is seen");
  report::Checklist list{.title = "Claim by claim"};
  for (const Claim& claim : claims) {
    const Judgement judgement = claim.judge(findings);
    if (&claim == &claims.front())
      section.add(report::Paragraph{fmt::format("**The claim.** {}", claim.text)})
          .add(notice_of(judgement))
          .add(report::Headline{
              {{.value = published_of(claim, judgement), .label = claim.label, .detail = "published"},
               {.value = judgement.here.empty() ? "none" : judgement.here, .label = claim.label, .detail = "here"}}});
    list.rules.push_back(rule_of(claim, judgement));
  }
  section.add(std::move(list))
      .add(report::Paragraph{
          "Every verdict follows from the figures of this run alone. Times are compared by their medians, with the "
          "range that their 95 % intervals leave (of fewer than 6 samples: their smallest and largest); what that "
          "range cannot decide is not shown here."});
}

const Result* Findings::find(std::string_view name) const {
  return first_where(results_, [&](const Result& each) { return each.name == name; });
}

const Result& Findings::get(std::string_view name) const {
  if (const Result* const found = find(name)) return *found;
  throw Error(ErrorCode::data, fmt::format("results.jsonl: no result \"{}\"; measure again", name));
}

bool Findings::is_in_series(const Result& result, std::string_view prefix) {
  return result.name.starts_with(prefix) && result.name.substr(prefix.size()).starts_with(": ");
}

std::string short_name(const Result& result) {
  const auto colon = result.name.find(": ");
  return colon == std::string::npos ? result.name : result.name.substr(colon + 2);
}

double median_of(const Result& result) {
  if (const auto summary = result.summary()) return summary->median;
  throw Error(ErrorCode::data, fmt::format("results.jsonl: \"{}\" has no samples; measure again", result.name));
}

}  // namespace lockstep::cli
