#include "lockstep/run/profile.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/views.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/lab/trace.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/timer.hpp"
#include "lockstep/train/device_executor.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

std::string optional_number(std::optional<double> number, fmt::string_view format) {
  return number ? fmt::vformat(format, fmt::make_format_args(*number)) : "-";
}

std::vector<std::string> cells(const ProfileRow& row) {
  const bool layer = row.section.name != row.section.phase;
  return {row.section.name,
          layer ? row.section.phase : "",
          with_commas(row.calls),
          fmt::format("{:.3f} s", row.seconds),
          fmt::format("{:.1f} %", 100 * row.share),
          row.flops > 0 ? fmt::format("{:.2f}", row.flops_per_second * 1e-9) : "-",
          row.peak_share ? fmt::format("{:.1f} %", 100 * *row.peak_share) : "-",
          optional_number(row.speedup, "{:.2f}")};
}

Json row_json(const ProfileRow& row) {
  Json json = {{"section", row.section.name}, {"phase", row.section.phase}, {"calls", row.calls},
               {"seconds", row.seconds},      {"share", row.share},         {"flops", row.flops},
               {"bytes", row.bytes}};
  json["gflops_per_second"] = row.flops_per_second * 1e-9;
  json["gbytes_per_second"] = row.bytes_per_second * 1e-9;
  if (row.peak_share) json["share_of_peak"] = *row.peak_share;
  if (row.speedup) json["speedup"] = *row.speedup;
  return json;
}

/// Thread by thread: the sums from which the rows are made.
Json threads_json(const Profile& profile) {
  Json threads = Json::array();
  for (int thread = 0; thread < profile.threads(); ++thread) {
    const Recorder& recorder = profile.recorder(thread);
    Json sections = Json::object();
    for (std::size_t s = 0; s < profile.sections().size(); ++s) {
      const SectionName& name = profile.sections()[s];
      if (recorder.sums()[s].calls > 0)
        sections[name.name == name.phase ? name.name : name.name + " " + name.phase] =
            double(recorder.sums()[s].ns) * 1e-9;
    }
    threads.push_back({{"wall_seconds", double(profile.wall_ns[static_cast<std::size_t>(thread)]) * 1e-9},
                       {"span_seconds", double(recorder.total_ns()) * 1e-9},
                       {"seconds", std::move(sections)}});
  }
  return threads;
}

/// " at 3.1 GB/s", by the device's clock; empty where it took no time.
std::string rate_of(const Profile& profile, std::string_view copy, std::int64_t bytes) {
  for (const DeviceKernel& kernel : profile.device_kernels)
    if (kernel.name == copy && kernel.seconds > 0)
      return fmt::format(" at {:.2f} GB/s", double(bytes) / kernel.seconds * 1e-9);
  return "";
}

/// Of the second step: from there on memory is allocated and caches are warm. Of the first where it is long anyway.
double time_of_step(Trainer& trainer, const Dataset& data, std::span<const std::int64_t> ids, double longest) {
  double seconds = 0;
  for (int i = 0; i < 2 && seconds < longest; ++i) {
    const Timer timer;
    trainer.step(data, ids);
    seconds = std::max(timer.seconds(), 1e-7);
  }
  return seconds;
}

}  // namespace

std::optional<Baseline> measure_baseline(const Network& network, const TrainOptions& options, const DataSplits& data,
                                         double seconds) {
  const Timer timer;
  Network copy = network;
  TrainOptions alone = options;
  alone.threads = 1;
  const std::int64_t size = data.train->size();
  const std::int64_t batch = options.batch > 0 ? std::min(options.batch, size) : size;
  const std::vector<std::int64_t> ids = ids_from(0, batch);
  try {
    Trainer trainer(copy, alone);
    TrainOptions whole = alone;
    whole.truncate = 0;  // a single step has no windows
    Network copy_of_whole = network;
    std::optional<Trainer> probe;
    if (options.truncate > 0) probe.emplace(copy_of_whole, whole);
    const double step_seconds = time_of_step(probe ? *probe : trainer, *data.train, ids, seconds);
    const auto steps = std::max<std::int64_t>(static_cast<std::int64_t>(seconds / step_seconds), 1);
    const std::int64_t steps_per_epoch = (size + batch - 1) / batch;
    const SubsetDataset part(data.train, 0, std::min(size, std::min(steps, steps_per_epoch) * batch));
    // Forward is about a third of a step; a tenth of the time for it.
    std::optional<SubsetDataset> validation;
    if (data.validation) {
      const double samples = 0.1 * seconds / (step_seconds / 3) * double(batch);
      validation.emplace(data.validation, 0,
                         static_cast<std::int64_t>(std::clamp(samples, 1.0, double(data.validation->size()))));
    }
    Baseline baseline;
    trainer.fit(part, {.epochs = std::max<std::int64_t>(steps / steps_per_epoch, 1),
                       .validation = validation ? &*validation : nullptr,
                       .profile = &baseline.profile});
    baseline.seconds = timer.seconds();
    return baseline;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::diverged) throw;
    return std::nullopt;
  }
}

RunProfile::RunProfile(const Network& network, const TrainOptions& options, const DataSplits& data,
                       RunObserver& observer)
    : on_device_(on_device(options.backend)),
      peak_threads_(std::min(options.threads, available_cpus())),
      precision_(network.precision()),
      isa_(peak_isas().back()),
      span_cost_ns_(span_cost_ns()) {
  if (on_device_) return;
  const Scalar scalar = precision_ == Precision::float32 ? Scalar::float32 : Scalar::float64;
  peak_flops_ = measure_fma_peak(scalar, peak_threads_);
  if (options.threads == 1) return;
  baseline_ = measure_baseline(network, options, data);
  observer.note(baseline_ ? fmt::format("profile: {} steps on 1 thread as the baseline ({})", baseline_->profile.steps,
                                        duration(baseline_->seconds))
                          : "profile: no baseline, its steps diverge");
}

ProfileQuestion RunProfile::question() const {
  const Profile* baseline = baseline_ ? &baseline_->profile : spans_.threads() == 1 && !on_device_ ? &spans_ : nullptr;
  return {.baseline = baseline, .peak_flops = peak_flops_};
}

double RunProfile::explained() const {
  double least = 1;
  for (int thread = 0; thread < spans_.threads(); ++thread)
    if (const double wall = double(spans_.wall_ns[static_cast<std::size_t>(thread)]); wall > 0)
      least = std::min(least, double(spans_.recorder(thread).total_ns()) / wall);
  return least;
}

std::string RunProfile::text() const {
  TextTable table("llrrrrrr");
  table.row({"section", "", "calls", "time", "share", "GFLOP/s", "of peak", "speed-up"});
  for (const ProfileRow& row : profile_rows(spans_, question())) table.row(cells(row));
  table.row(cells(profile_total(spans_, question())));
  return table.str() + "\n" + device_kernels() + notes();
}

/// By the device's own clock, the longest first; empty where none was used.
std::string RunProfile::device_kernels() const {
  if (spans_.device_kernels.empty()) return "";
  std::vector<DeviceKernel> kernels = spans_.device_kernels;
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  double total = 0;
  for (const DeviceKernel& kernel : kernels) total += kernel.seconds;
  TextTable table("lrrrr");
  table.row({"kernel on the device", "launches", "time", "share", "each"});
  for (const DeviceKernel& kernel : kernels)
    table.row({kernel.name, with_commas(kernel.launches), fmt::format("{:.3f} s", kernel.seconds),
               fmt::format("{:.1f} %", total > 0 ? 100 * kernel.seconds / total : 0),
               fmt::format("{:.1f} us", 1e6 * kernel.seconds / double(std::max<std::int64_t>(kernel.launches, 1)))});
  return table.str() + "\n";
}

std::string RunProfile::notes() const {
  const double recording = double(spans_.spans()) * span_cost_ns_ * 1e-9 / double(std::max(spans_.threads(), 1));
  std::string out = fmt::format(
      "time      mean of {}; spans explain {:.2f} % of the loop; taking them cost about {:.2f} % ({} of {:.0f} ns)\n",
      count_of(spans_.threads(), "thread"), 100 * explained(),
      spans_.seconds() > 0 ? 100 * recording / spans_.seconds() : 0, with_commas(spans_.spans()), span_cost_ns_);
  if (!on_device_)
    out += fmt::format("peak      {:.1f} GFLOP/s: {} multiply-adds in registers, {}, {}, measured before training\n",
                       peak_flops_ * 1e-9, to_string(precision_), isa_, count_of(peak_threads_, "thread"));
  if (baseline_)
    out += fmt::format(
        "speed-up  time per sample on 1 thread / here; {} steps of a copy of the network before the run, "
        "{}; total: a step, with waiting\n",
        baseline_->profile.steps, duration(baseline_->seconds));
  if (!spans_.device_kernels.empty())
    out += fmt::format(
        "device    every span waits for the device, so that layers have times of their own: slower than without "
        "profiling\ncopies    {}B to the device{}, {}B back{}: samples down, scores up, the weights once per epoch\n",
        with_prefix(double(spans_.bytes_to_device)), rate_of(spans_, kCopyToDevice, spans_.bytes_to_device),
        with_prefix(double(spans_.bytes_to_host)), rate_of(spans_, kCopyToHost, spans_.bytes_to_host));
  if (spans_.dropped() > 0)
    out += fmt::format("trace     holds the last {} spans, {} earlier ones were dropped; the table counts all\n",
                       with_commas(spans_.spans() - spans_.dropped()), with_commas(spans_.dropped()));
  return out;
}

std::string RunProfile::json() const {
  Json json = {{"threads", spans_.threads()},       {"steps", spans_.steps},        {"samples", spans_.samples},
               {"seconds", spans_.seconds()},       {"explained", explained()},     {"spans", spans_.spans()},
               {"dropped_spans", spans_.dropped()}, {"span_cost_ns", span_cost_ns_}};
  if (!on_device_)
    json["peak"] = {{"gflops_per_second", peak_flops_ * 1e-9},
                    {"precision", to_string(precision_)},
                    {"isa", isa_},
                    {"threads", peak_threads_}};
  if (baseline_)
    json["baseline"] = {{"threads", 1}, {"steps", baseline_->profile.steps}, {"seconds", baseline_->seconds}};
  Json rows = Json::array();
  for (const ProfileRow& row : profile_rows(spans_, question())) rows.push_back(row_json(row));
  json["sections"] = std::move(rows);
  json["total"] = row_json(profile_total(spans_, question()));
  json["by_thread"] = threads_json(spans_);
  if (on_device_)
    json["copies"] = {{"bytes_to_device", spans_.bytes_to_device}, {"bytes_to_host", spans_.bytes_to_host}};
  for (const DeviceKernel& kernel : spans_.device_kernels)
    json["device_kernels"].push_back(
        {{"kernel", kernel.name}, {"launches", kernel.launches}, {"seconds", kernel.seconds}});
  return json.dump(2);
}

void RunProfile::write(const RunDirectory& directory) const {
  write_file_atomically(directory.file(kTraceFile), chrome_trace(spans_));
  write_file_atomically(directory.file(kProfileFile), json() + "\n");
}

}  // namespace lockstep
