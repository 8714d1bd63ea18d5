#include "cli/output/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/result.hpp"

namespace lockstep::cli {

namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr std::chrono::seconds kBetweenLines{1};
constexpr int kLongestBar = 30;

}  // namespace

std::string bar(double done, int width) {
  const int inner = std::max(width - 2, 1);
  const int filled = std::clamp(static_cast<int>(done * inner), 0, inner);
  std::string text(static_cast<std::size_t>(filled), '=');
  if (filled < inner) text += '>' + std::string(static_cast<std::size_t>(inner - filled - 1), ' ');
  return fmt::format("[{}]", text);
}

std::string sparkline(std::span<const double> values, std::size_t width) {
  constexpr const char* kBlocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  constexpr std::size_t kHeights = std::size(kBlocks);
  const std::size_t columns = std::min(width, values.size());
  std::vector<double> means;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t first = c * values.size() / columns, last = (c + 1) * values.size() / columns;
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += values[i];
    means.push_back(sum / double(last - first));
  }
  if (means.empty()) return "";
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  std::string text;
  for (const double mean : means) {
    const double share = *high > *low ? (mean - *low) / (*high - *low) : 0;
    text += kBlocks[std::min(static_cast<std::size_t>(share * double(kHeights)), kHeights - 1)];
  }
  return text;
}

Progress::Progress(Console& console, std::int64_t samples, std::int64_t epochs)
    : console_(&console), samples_(samples), epochs_(epochs) {}

void Progress::step(const StepReport& report) {
  if (!console_->animated()) return;
  const auto now = Clock::now();
  if (now - last_draw_ < kBetweenDraws) return;
  last_draw_ = now;
  const double done = double(report.epoch - 1) * double(samples_) + double(report.samples_done);
  const double share = done / (double(epochs_) * double(samples_));
  const std::string text =
      fmt::format("epoch {}/{}  loss {}{}  {} samples/s  {} left", report.epoch, report.epochs, loss_text(report.loss),
                  metric_, with_prefix(done / seconds()), duration(seconds() * (1 - share) / share));
  // One column stays free: a full last column would wrap.
  const int room = console_->width() - 1 - static_cast<int>(text.size()) - 2;
  const std::string drawn = room < 5 ? "" : bar(share, std::min(room, kLongestBar));
  const std::string_view on = console_->coloured() ? "\x1b[32m" : "", off = console_->coloured() ? "\x1b[0m" : "";
  console_->draw(
      fmt::format("{}{}{}  {}", on, drawn, off, text).substr(0, static_cast<std::size_t>(console_->width()) + 8));
}

std::string Progress::curve() const {
  constexpr std::size_t kFewest = 3, kWidest = 40;
  if (losses_.size() < kFewest) return "";
  return fmt::format("loss {}  {} to {}", sparkline(losses_, kWidest), loss_text(losses_.front()),
                     loss_text(losses_.back()));
}

void Progress::epoch(const EpochReport& report) {
  losses_.push_back(report.train.loss);
  if (report.validation) {
    const Scores& scores = *report.validation;
    metric_ = !scores.metrics.empty()
                  ? fmt::format("  validation {} {}", scores.metrics[0].name, metric_text(scores.metrics[0].value))
              : scores.accuracy() ? fmt::format("  validation {}", percent(scores.accuracy()))
                                  : fmt::format("  validation loss {}", loss_text(scores.loss));
  }
  const auto now = Clock::now();
  if (now - last_line_ < kBetweenLines && report.epoch != epochs_ && report.epoch != 1 && !report.stops) return;
  last_line_ = now;
  std::string line = fmt::format("epoch {:>{}}/{}  loss {}", report.epoch, std::to_string(epochs_).size(), epochs_,
                                 loss_text(report.train.loss));
  if (report.train.accuracy()) line += fmt::format("  accuracy {}", percent(report.train.accuracy()));
  if (report.validation) {
    line += fmt::format("  validation loss {}", loss_text(report.validation->loss));
    if (report.validation->accuracy()) line += fmt::format("  accuracy {}", percent(report.validation->accuracy()));
    for (const MetricValue& metric : report.validation->metrics)
      line += fmt::format("  {} {}", metric.name, metric_text(metric.value));
    if (report.best_epoch == report.epoch) line += "  best";
  }
  const double rate = report.times.total > 0 ? double(report.train.samples) / report.times.total : 0;
  console_->note(fmt::format("{}  {}  {} samples/s", line, duration(report.times.total), with_prefix(rate)));
}

}  // namespace lockstep::cli
