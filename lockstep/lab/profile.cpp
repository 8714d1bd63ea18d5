#include "lockstep/lab/profile.hpp"

#include <algorithm>

namespace lockstep {

namespace {

/// The sections in the order of a step.
std::vector<std::size_t> reading_order(const Profile& profile) {
  const std::size_t count = profile.sections().size();
  std::vector<std::size_t> order = {kLoadSection};
  for (std::size_t s = kFixedSections; s < count; s += 2) order.push_back(s);
  order.push_back(kLossSection);
  for (std::size_t s = count; s > kFixedSections; s -= 2) order.push_back(s - 1);
  for (const std::size_t s : {kGatherSection, kBubbleSection, kReduceSection, kExchangeSection, kUpdateSection,
                              kWaitSection, kValidationSection, kShuffleSection, kReportSection})
    order.push_back(s);
  return order;
}

double mean_seconds(const Profile& profile, std::size_t section) {
  return double(profile.sum(section).ns) * 1e-9 / double(profile.threads());
}

/// Work that the same training does on any number of threads.
bool is_shared_work(std::size_t section) {
  return section != kWaitSection && section != kShuffleSection && section != kReportSection &&
         section != kExchangeSection && section != kBubbleSection && section != kGatherSection;
}

bool is_part_of_step(std::size_t section) { return section != kValidationSection && is_shared_work(section); }

std::int64_t samples_of(const Profile& profile, std::size_t section) {
  return section == kValidationSection ? profile.validation_samples : profile.samples;
}

std::optional<double> ratio(double baseline, std::int64_t baseline_samples, double here, std::int64_t samples) {
  if (baseline <= 0 || here <= 0 || baseline_samples == 0 || samples == 0) return std::nullopt;
  return baseline / double(baseline_samples) / (here / double(samples));
}

std::optional<double> section_speedup(const Profile& profile, const Profile* baseline, std::size_t section) {
  if (baseline == nullptr || !is_shared_work(section) || section >= baseline->sections().size()) return std::nullopt;
  return ratio(mean_seconds(*baseline, section), samples_of(*baseline, section), mean_seconds(profile, section),
               samples_of(profile, section));
}

std::optional<double> step_speedup(const Profile& profile, const Profile* baseline) {
  if (baseline == nullptr || baseline->sections().size() != profile.sections().size()) return std::nullopt;
  double before = mean_seconds(*baseline, kWaitSection), here = mean_seconds(profile, kWaitSection);
  for (std::size_t s = 0; s < profile.sections().size(); ++s) {
    if (!is_part_of_step(s)) continue;
    before += mean_seconds(*baseline, s);
    here += mean_seconds(profile, s);
  }
  return ratio(before, baseline->samples, here, profile.samples);
}

void add_rates(ProfileRow& row, double peak_flops) {
  if (row.seconds <= 0) return;
  row.flops_per_second = row.flops / row.seconds;
  row.bytes_per_second = row.bytes / row.seconds;
  if (row.flops > 0 && peak_flops > 0) row.peak_share = row.flops_per_second / peak_flops;
}

}  // namespace

void Profile::begin(std::vector<SectionName> sections, int threads) {
  sections_ = std::move(sections);
  recorders_.clear();
  steps = samples = validation_samples = 0;
  device_kernels.clear();
  bytes_to_device = bytes_to_host = 0;
  wall_ns.assign(static_cast<std::size_t>(threads), 0);
  const auto zero = Recorder::Clock::now();
  const auto capacity = static_cast<std::size_t>(max_spans_ / threads);
  for (int i = 0; i < threads; ++i)
    recorders_.push_back(std::make_unique<Recorder>(sections_.size(), capacity, zero, charge_));
}

SectionSum Profile::sum(std::size_t section) const {
  SectionSum total;
  for (const auto& recorder : recorders_) {
    const SectionSum& own = recorder->sums()[section];
    total.calls += own.calls;
    total.ns += own.ns;
    total.flops += own.flops;
    total.bytes += own.bytes;
  }
  return total;
}

double Profile::seconds() const {
  double ns = 0;
  for (const auto& recorder : recorders_) ns += double(recorder->total_ns());
  return recorders_.empty() ? 0 : ns * 1e-9 / double(recorders_.size());
}

std::int64_t Profile::dropped() const {
  std::int64_t count = 0;
  for (const auto& recorder : recorders_) count += recorder->dropped();
  return count;
}

std::int64_t Profile::spans() const {
  std::int64_t count = 0;
  for (const auto& recorder : recorders_) count += recorder->count();
  return count;
}

std::vector<ProfileRow> profile_rows(const Profile& profile, const ProfileQuestion& question) {
  std::vector<ProfileRow> rows;
  if (profile.empty()) return rows;
  const double total = profile.seconds();
  for (const std::size_t section : reading_order(profile)) {
    const SectionSum sum = profile.sum(section);
    if (sum.calls == 0) continue;
    ProfileRow row{.section = profile.sections()[section],
                   .calls = sum.calls,
                   .seconds = mean_seconds(profile, section),
                   .flops = sum.flops,
                   .bytes = sum.bytes};
    if (total > 0) row.share = row.seconds / total;
    add_rates(row, question.peak_flops);
    row.speedup = section_speedup(profile, question.baseline, section);
    rows.push_back(std::move(row));
  }
  return rows;
}

ProfileRow profile_total(const Profile& profile, const ProfileQuestion& question) {
  ProfileRow total{.section = {"total", "total"}};
  for (const ProfileRow& row : profile_rows(profile, question)) {
    total.calls += row.calls;
    total.seconds += row.seconds;
    total.share += row.share;
    total.flops += row.flops;
    total.bytes += row.bytes;
  }
  add_rates(total, question.peak_flops);
  if (!profile.empty()) total.speedup = step_speedup(profile, question.baseline);
  return total;
}

double span_cost_ns() {
  constexpr int kRuns = 5, kSpans = 10'000;
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    Recorder recorder(2, kSpans / 2, Recorder::Clock::now());
    for (int i = 0; i < kSpans; ++i) recorder.close(i % 2, 1, 1);
    best = std::min(best, double(recorder.total_ns()) / kSpans);
  }
  return best;
}

}  // namespace lockstep
