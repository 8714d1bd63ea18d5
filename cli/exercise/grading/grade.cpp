#include "cli/exercise/grading/grade.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/check/check.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

std::string words_of(const Verdict& verdict) {
  std::string text = fmt::format("Verdict: {}.", name_of(verdict.tier));
  for (const std::string& each : verdict.words) text += "\n" + each;
  if (!verdict.first_wrong.empty()) text += "\nFirst: " + verdict.first_wrong;
  if (verdict.right_cases < verdict.cases)
    text += fmt::format("\n{} of {} cases were right.", verdict.right_cases, verdict.cases);
  for (const std::string& each : verdict.checks) text += "\n" + each;
  return text;
}

std::string speed_words(const SpeedFindings& speed) {
  return fmt::format(
      "{:.2f} times naive, {:.0f} % of our SIMD kernel, {:.0f} % of the roof ({}).\nLimit: {}.\nNext: {}.",
      speed.of_naive, 100 * speed.of_simd, 100 * speed.of_roof, speed.roof, speed.limit, speed.next);
}

/// The test of one step of speed.
GradedTest step_test(const char* of, const PointStep& step, double reached, const Verdict& verdict) {
  GradedTest test{.name = fmt::format("At least {:.4g} % of {}", 100 * step.share, of), .most = step.points};
  if (!verdict.right()) {
    test.output = "Only right kernels are measured.";
  } else if (!verdict.speed) {
    test.output = "It was not measured.";
  } else {
    test.passed = reached >= step.share;
    test.score = test.passed ? step.points : 0;
    test.output = fmt::format("Reached: {:.1f} %.", 100 * reached);
  }
  return test;
}

Grade refused(const GradedTask& task, const std::string& track, const std::string& why) {
  Grade grade{.exercise = task.exercise->name, .track = track, .grading = task.grading};
  grade.tests.push_back({.name = "The submission can be checked", .most = task.grading.most(), .output = why});
  return grade;
}

/// The submission's track; Error(usage) where its task.toml is for something else.
std::string track_of(const GradeRequest& request, const GradedTask& task) {
  std::string track = task.track;
  if (track.empty()) track = task.grading.tracks.empty() ? task.exercise->tracks.front() : task.grading.tracks.front();
  if (const fs::path file = request.submission / kTaskFile; fs::exists(file)) {
    const TaskSettings own = read_task_file(file);
    const bool same = own.exercise == task.exercise->name || own.exercise.find('/') != std::string::npos;
    if (!own.definition && !same)
      throw Error(ErrorCode::usage, fmt::format("the submission is a solution of {}, not of {}", one_line(own.exercise),
                                                task.exercise->name));
    if (!own.track.empty()) track = own.track;
  }
  const auto& allowed = task.grading.tracks;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), track) == allowed.end())
    throw Error(ErrorCode::usage,
                fmt::format("the track {} is not allowed here; allowed: {}", track, fmt::join(allowed, ", ")));
  check_track(*task.exercise, track_named(track));
  return track;
}

}  // namespace

double Grade::score() const {
  double sum = 0;
  for (const GradedTest& each : tests) sum += each.score;
  return sum;
}

std::string points_text(const Grade& grade) {
  return fmt::format("{:.4g} of {:.4g} points", grade.score(), grade.most());
}

Grade grade_verdicts(const Grading& grading, const std::vector<Verdict>& verdicts) {
  // The worst one counts: a kernel that is right for one secret seed only is wrong.
  const Verdict* worst = &verdicts.front();
  Grade grade{.exercise = worst->exercise, .track = worst->track, .grading = grading};
  for (const Verdict& each : verdicts) {
    grade.seconds += each.seconds;
    if (static_cast<int>(each.tier) > static_cast<int>(worst->tier)) worst = &each;
  }
  GradedTest right{.name = "Right by the contract", .most = grading.points, .passed = worst->right()};
  right.output = words_of(*worst);
  if (right.passed) right.score = grading.points;
  if (worst->tier == Tier::another_order) right.score = grading.another_order;
  if (worst->speed) right.output += "\n" + speed_words(*worst->speed);
  grade.tests.push_back(std::move(right));
  for (const PointStep& step : grading.simd)
    grade.tests.push_back(step_test("our SIMD kernel's speed", step, worst->speed ? worst->speed->of_simd : 0, *worst));
  for (const PointStep& step : grading.roof)
    grade.tests.push_back(step_test("what the machine allows", step, worst->speed ? worst->speed->of_roof : 0, *worst));
  grade.verdict = *worst;
  return grade;
}

GradedTask open_graded_task(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / kTaskFile : path;
  if (!fs::exists(file))
    throw Error(ErrorCode::usage, fmt::format("{}: no such file; it says what is graded", one_line(file.string())));
  const TaskSettings settings = read_task_file(file);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  GradedTask task{.track = settings.track};
  if (settings.grading) task.grading = *settings.grading;
  task.exercise = settings.definition ? open_own_exercise(folder) : choose_exercise(settings.exercise, folder);
  for (const std::string& each : task.grading.tracks) check_track(*task.exercise, track_named(each));
  if (!task.track.empty()) check_track(*task.exercise, track_named(task.track));
  return task;
}

Grade grade_submission(const GradeRequest& request, Console& console) {
  const GradedTask task = open_graded_task(request.task.empty() ? request.submission : request.task);
  if (!fs::is_directory(request.submission))
    throw Error(ErrorCode::usage, fmt::format("{}: no such folder", one_line(request.submission.string())));
  std::string name = task.track;
  try {
    name = track_of(request, task);
  } catch (const Error& error) {
    return refused(task, name, error.what());
  }
  const Track& track = track_named(name);
  CheckOptions options{
      .source = request.submission / track.source, .compiler = request.compiler, .call_seconds = task.grading.limit};
  if (!fs::is_regular_file(options.source))
    return refused(task, name, fmt::format("The file {} is missing: it holds the solution.", track.source));
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, task.grading.seeds.size()); ++i) {
    if (!task.grading.seeds.empty()) options.secret_seed = task.grading.seeds[i];
    options.speed = i == 0 && task.grading.needs_speed();
    options.sanitize = i == 0;
    verdicts.push_back(check_kernel(*task.exercise, track, options, console));
    if (!verdicts.back().right()) break;
  }
  return grade_verdicts(task.grading, verdicts);
}

}  // namespace lockstep::cli
