#include "cli/exercise/check/diagnose.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

/// A wrong element.
struct WrongElement {
  std::size_t array = 0;
  std::int64_t index = 0;
};

struct Cause {
  std::string word{}, words{};
  Tier tier = Tier::wrong;
};

std::optional<WrongElement> first_wrong(const Observation& seen) {
  for (std::size_t i = 0; i < seen.got.arrays().size(); ++i) {
    const auto& got = seen.got.arrays()[i];
    if (!got.field->written()) continue;
    for (std::int64_t e = 0; e < got.count(); ++e)
      if (!same_element(got, seen.expected.arrays()[i], e)) return WrongElement{i, e};
  }
  return std::nullopt;
}

std::string wrong_text(const Exercise& exercise, const Observation& seen) {
  const auto wrong = first_wrong(seen);
  if (!wrong) return {};
  const auto& got = seen.got.arrays()[wrong->array];
  const auto& expected = seen.expected.arrays()[wrong->array];
  std::int64_t count = 0;
  for (std::int64_t e = 0; e < got.count(); ++e) count += same_element(got, expected, e) ? 0 : 1;
  return fmt::format("{}: got {}, expected {} ({} of {} elements of {} are wrong; {})", element_name(got, wrong->index),
                     element_text(got, wrong->index), element_text(expected, wrong->index), with_commas(count),
                     with_commas(got.count()), got.field->name, shape_text(exercise, seen.spec.shape));
}

/// Results with outputs that held zeros before the call.
std::optional<CaseArguments> call_again(const Observation& seen, RunnerSession& session, Fill fill) {
  CaseArguments again = seen.given;
  again.fill_outputs(fill);
  if (!session.place(again, true).ok() || !session.call(again).ok()) return std::nullopt;
  return again;
}

/// The wrong calls, those with most elements first: they tell most.
std::vector<const Observation*> wrong_calls(const Observations& seen) {
  std::vector<const Observation*> wrong;
  for (const Observation& each : seen.calls)
    if (!each.right) wrong.push_back(&each);
  const auto elements = [](const Observation* each) {
    std::int64_t count = 0;
    for (const auto& array : each->got.arrays()) count += array.field->written() ? array.count() : 0;
    return count;
  };
  std::stable_sort(wrong.begin(), wrong.end(), [&](auto* a, auto* b) { return elements(a) > elements(b); });
  return wrong;
}

bool explains(const Mistake& mistake, const Observations& seen) {
  for (const Observation& call : seen.calls) {
    CaseArguments wrong = call.given;
    mistake.run(wrong.get());
    if (!same_results(wrong, call.got)) return false;
  }
  return true;
}

std::optional<Cause> usual_mistake(const Exercise& exercise, const Observations& seen) {
  for (const Mistake& mistake : exercise.mistakes)
    if (explains(mistake, seen))
      return Cause{mistake.cause, mistake.words, mistake.rounding ? Tier::another_order : Tier::wrong};
  return std::nullopt;
}

/// Enough different numbers that two calls do not agree by chance.
bool telling(const Observation& seen) {
  std::int64_t different = 0;
  for (const auto& array : seen.got.arrays())
    for (std::int64_t e = 1; array.field->written() && e < array.count(); ++e)
      different += element_at(array, e) != element_at(array, e - 1) ? 1 : 0;
  return different >= 3;
}

/// The result of an earlier call with other numbers.
std::optional<Cause> kept_results(const Observations& seen) {
  for (std::size_t i = 1; i < seen.calls.size(); ++i) {
    if (seen.calls[i].right) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const Observation &now = seen.calls[i], &before = seen.calls[j];
      if (before.spec.shape != now.spec.shape || before.spec.seed == now.spec.seed) continue;
      if (!before.right || !telling(now)) continue;
      if (same_results(before.got, now.got) && !same_results(before.expected, now.expected))
        return Cause{"cached",
                     "The results are those of an earlier call with other numbers: they were kept, not computed.",
                     Tier::rejected};
    }
  }
  return std::nullopt;
}

/// Numbers went in, and what came out is none.
std::optional<Cause> no_numbers(const Track& track, const std::vector<const Observation*>& wrong) {
  bool any = false;
  for (const Observation* call : wrong)
    for (std::size_t i = 0; i < call->got.arrays().size(); ++i) {
      const auto &got = call->got.arrays()[i], &expected = call->expected.arrays()[i];
      if (!got.field->written()) continue;
      for (std::int64_t e = 0; e < got.count(); ++e) {
        if (same_element(got, expected, e)) continue;
        if (untouched(got, e) || !std::isnan(element_at(got, e))) return std::nullopt;
        any = true;
      }
    }
  if (!any) return std::nullopt;
  return Cause{"reads-unwritten", track.cuda ? "NaN comes out of numbers: memory is read before it is written. Often a "
                                               "__syncthreads() is missing."
                                             : "NaN comes out of numbers: memory is read before it is written, or 0 is "
                                               "divided by 0."};
}

/// All wrong elements were never written: which ones?
std::optional<Cause> unwritten(const Observations& seen, const std::vector<const Observation*>& wrong) {
  for (const Observation* call : wrong)
    for (std::size_t i = 0; i < call->got.arrays().size(); ++i) {
      const auto &got = call->got.arrays()[i], &expected = call->expected.arrays()[i];
      if (!got.field->written()) continue;
      for (std::int64_t e = 0; e < got.count(); ++e)
        if (!same_element(got, expected, e) && !untouched(got, e)) return std::nullopt;
    }
  // A rule about places must hold in every call.
  const auto holds = [&](const auto& missing) {
    bool any = false;
    for (const Observation& call : seen.calls)
      for (const auto& got : call.got.arrays()) {
        if (got.field->kind != ArgumentField::Kind::output) continue;
        for (std::int64_t e = 0; e < got.count(); ++e) {
          if (untouched(got, e) != missing(got.dims, e, got.count())) return false;
          any = any || untouched(got, e);
        }
      }
    return any;
  };
  using Rule = std::function<bool(const Dims&, std::int64_t, std::int64_t)>;
  const auto say = [](const char* word, std::string words) { return Cause{word, std::move(words)}; };
  if (holds(Rule([](const Dims&, auto, auto) { return true; })))
    return say("unwritten-all", "The function writes nothing.");
  for (const int width : {2, 4, 8, 16, 32}) {
    const std::string group = fmt::format("the last whole group of {}", width);
    if (holds(Rule([&](const Dims&, auto e, auto n) { return e >= n / width * width; })))
      return say("remainder", fmt::format("The remainder is not written: the elements behind {}.", group));
    if (holds(Rule([&](const Dims& d, auto e, auto) { return e % d.back() >= d.back() / width * width; })))
      return say("remainder", fmt::format("The remainder of every row is not written: the columns behind {}.", group));
    if (holds(Rule([&](const Dims& d, auto e, auto n) { return e / (n / d[0]) >= d[0] / width * width; })))
      return say("remainder", fmt::format("The remainder is not written: the rows behind {}.", group));
  }
  if (holds(Rule([](const Dims&, auto e, auto n) { return e == n - 1; })))
    return say("last-element", "The last element is not written: the loop ends one too early.");
  if (holds(Rule([](const Dims& d, auto e, auto) { return e % d.back() == d.back() - 1; })))
    return say("last-column", "The last column is not written: the loop ends one too early.");
  if (holds(Rule([](const Dims& d, auto e, auto n) { return e / (n / d[0]) == d[0] - 1; })))
    return say("last-row", "The last row is not written: the loop ends one too early.");
  if (holds(Rule([](const Dims&, auto e, auto) { return e == 0; })))
    return say("first-element", "The first element is not written: the loop begins at 1.");
  if (holds(Rule([](const Dims& d, auto e, auto) { return e % d.back() == 0; })))
    return say("first-column", "The first column is not written: the loop begins at 1.");
  if (holds(Rule([](const Dims& d, auto e, auto n) { return e / (n / d[0]) == 0; })))
    return say("first-row", "The first row is not written: the loop begins at 1.");
  return say("unwritten", "Some elements are not written; all that are written are right.");
}

/// Calls the kernel again in new processes: does it always give the same, and on one thread?
std::optional<Cause> differs_between_runs(const Track& track, const Observation& seen, const StartSession& start) {
  const auto session = start(0);
  std::vector<CaseArguments> results;
  for (int i = 0; i < 6; ++i)
    if (auto again = call_again(seen, *session, Fill::marked)) results.push_back(std::move(*again));
  const bool differ =
      std::any_of(results.begin(), results.end(), [&](const auto& each) { return !same_results(each, results[0]); });
  const bool first_right = !results.empty() && same_results(results[0], seen.expected);
  if (!track.threads && (differ || first_right))
    return Cause{
        "state",
        "The same call gives other results later: something is kept between calls, or read before it is written."};
  if (!track.threads) return std::nullopt;
  const auto alone = call_again(seen, *start(1), Fill::marked);
  const bool right_alone = alone && same_results(*alone, seen.expected);
  if (differ)
    return Cause{"race",
                 right_alone
                     ? "The same call gives different results: a race between threads. On one thread it is right."
                     : "The same call gives different results: a race between threads."};
  if (right_alone)
    return Cause{"race",
                 "On one thread it is right, on several it is not: threads disturb each other, or leave out a part."};
  return std::nullopt;
}

std::optional<Cause> accumulates(const Observation& seen, const StartSession& start) {
  const auto zero = call_again(seen, *start(0), Fill::zero);
  if (!zero || !same_results(*zero, seen.expected)) return std::nullopt;
  return Cause{"accumulates", "The function adds to what the output held before; it must overwrite it."};
}

/// The bound of an error by rounding alone: terms * 2^-24 * the sum of magnitudes, which the oracle computes from the
/// magnitudes of the inputs.
bool within_rounding(const Exercise& exercise, const Observation& seen, double& largest) {
  CaseArguments magnitudes = seen.given;
  for (auto& array : magnitudes.arrays()) {
    if (array.field->element != Element::float32) continue;
    auto* const data = reinterpret_cast<float*>(array.bytes.data());
    for (std::int64_t e = 0; e < array.count(); ++e) data[e] = std::abs(data[e]);
  }
  if (exercise.terms) exercise.oracle(magnitudes.get());
  const double terms = exercise.terms ? 4 + double(exercise.terms(seen.given.get())) : 8;
  for (std::size_t i = 0; i < seen.got.arrays().size(); ++i) {
    const auto &got = seen.got.arrays()[i], &expected = seen.expected.arrays()[i], &size = magnitudes.arrays()[i];
    if (!got.field->written()) continue;
    const double unit = got.field->element == Element::float32   ? 0x1p-23
                        : got.field->element == Element::float64 ? 0x1p-52
                                                                 : 0;
    for (std::int64_t e = 0; e < got.count(); ++e) {
      if (same_element(got, expected, e)) continue;
      const double scale =
          std::max(std::abs(element_at(expected, e)), exercise.terms ? std::abs(element_at(size, e)) : 0);
      const double error = std::abs(element_at(got, e) - element_at(expected, e));
      if (!(error <= terms * unit * scale)) return false;
      largest = std::max(largest, ulp_distance(got, expected, e));
    }
  }
  return true;
}

void set(Verdict& verdict, const Cause& cause) {
  verdict.tier = cause.tier;
  verdict.cause = cause.word;
  verdict.words = {cause.words};
}

void explain_end(const Observations& seen, Verdict& verdict) {
  using End = CallOutcome::End;
  const Observation& at = *seen.died_at;
  verdict.first_wrong = shape_text(at.given.exercise(), at.spec.shape);
  if (seen.outcome.ok()) {
    verdict.tier = Tier::wrong;
    verdict.cause = "writes-input";
    verdict.words = {fmt::format("It changed the input {}, which it may only read.", seen.outcome.changed)};
    return;
  }
  const std::string fault = describe_fault(seen.outcome, at.given);
  verdict.words = {fmt::format("Your function did not return: {}.", fault)};
  verdict.tier = Tier::crashed;
  const std::pair<End, const char*> causes[] = {
      {End::too_long, "never-returns"}, {End::forged, "forged"}, {End::exited, "exits"}, {End::forbidden, "forbidden"}};
  verdict.cause = "crash";
  for (const auto& [end, word] : causes)
    if (seen.outcome.end == end) verdict.cause = word;
  if (seen.outcome.end == End::forged || seen.outcome.end == End::forbidden || seen.outcome.end == End::exited)
    verdict.tier = Tier::rejected;
  if (fault.find("outside of") != std::string::npos || fault.find("out of bounds") != std::string::npos)
    verdict.cause = "out-of-bounds";
  if (fault.find("into the input") != std::string::npos || fault.find("read-only memory") != std::string::npos)
    verdict.cause = "writes-input";
  if (fault.find("loads or stores a vector") != std::string::npos) verdict.cause = "unaligned";
}

}  // namespace

void diagnose(const Exercise& exercise, const Track& track, const Observations& seen, const StartSession& start,
              Verdict& verdict) {
  if (seen.died_at) return explain_end(seen, verdict);
  const std::vector<const Observation*> wrong = wrong_calls(seen);
  if (wrong.empty()) return;
  verdict.tier = Tier::wrong;
  verdict.first_wrong = wrong_text(exercise, *wrong.front());
  double largest = 0;
  const bool rounding = std::all_of(wrong.begin(), wrong.end(),
                                    [&](const Observation* call) { return within_rounding(exercise, *call, largest); });
  if (rounding) verdict.largest_ulp = largest;
  if (const auto cause = usual_mistake(exercise, seen)) return set(verdict, *cause);
  if (const auto cause = kept_results(seen)) return set(verdict, *cause);
  if (const auto cause = accumulates(*wrong.front(), start)) return set(verdict, *cause);
  if (const auto cause = differs_between_runs(track, *wrong.front(), start)) return set(verdict, *cause);
  if (const auto cause = unwritten(seen, wrong)) return set(verdict, *cause);
  if (const auto cause = no_numbers(track, wrong)) return set(verdict, *cause);
  if (rounding) {
    verdict.tier = Tier::another_order;
    verdict.words = {
        "It is right within rounding, but the sums have another order, or other roundings, than the contract's."};
    return;
  }
  if (std::all_of(wrong.begin(), wrong.end(), [](const Observation* call) { return call->spec.secret; }) &&
      std::any_of(seen.calls.begin(), seen.calls.end(), [](const Observation& call) { return !call.spec.secret; })) {
    verdict.tier = Tier::rejected;
    verdict.cause = "unseen";
    verdict.words = {
        "It is right for every public case and wrong for the secret ones: it knows the cases, not the task."};
    return;
  }
  verdict.words = {"None of the usual mistakes gives these numbers."};
}

}  // namespace lockstep::cli
