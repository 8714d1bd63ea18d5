#include "lockstep/lab/report/label_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "lockstep/lab/report/drawing.hpp"

namespace lockstep::report {

void LabelPlace::discourage(const Drawing::Points& curve) {
  constexpr double kStep = 6;  // close enough that no line passes through a word unseen
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    const auto [x, y] = curve[i];
    const double dx = curve[i + 1].first - x, dy = curve[i + 1].second - y;
    const int steps = std::max(1, static_cast<int>(std::hypot(dx, dy) / kStep));
    for (int s = 0; s < steps; ++s) curve_.emplace_back(x + dx * s / steps, y + dy * s / steps);
  }
}

double LabelPlace::cost(const Box& box) const {
  if (!box.inside(bounds_)) return std::numeric_limits<double>::infinity();
  const Box padded{box.left - 2, box.top - 1, box.right + 2, box.bottom + 1};
  for (const Box& other : blocked_)
    if (padded.overlaps(other)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::count_if(curve_.begin(), curve_.end(), [&](const auto& at) {
    return at.first > box.left && at.first < box.right && at.second > box.top && at.second < box.bottom;
  }));
}

std::optional<PlacedLabel> LabelPlace::place(double x, double y, std::string_view text, double reach) {
  const double width = text_width(text, kTextSize);
  constexpr double kBeside = 8;  // from the point to the text
  constexpr int kDirections = 16;
  double best = std::numeric_limits<double>::infinity();
  PlacedLabel found;
  Box box;
  for (double radius = kBeside; radius <= reach; radius += 6) {
    for (int d = 0; d < kDirections; ++d) {
      // To the right first, then around.
      const double angle = 2 * std::numbers::pi * (d % 2 == 0 ? d / 2 : kDirections - (d + 1) / 2) / kDirections;
      const double along = std::cos(angle), up = std::sin(angle);
      const double left = x + radius * along - width * (1 - along) / 2;
      const double base = y - radius * up + 0.35 * kTextSize - 0.3 * kTextSize * up;
      const Box candidate = text_box(left, base, text);
      const double price = 8 * cost(candidate) + (radius - kBeside) / 2 + 0.1 * d;
      if (price < best) best = price, box = candidate, found = {left, base, radius > 2 * kBeside};
    }
    if (best < radius) break;
  }
  if (!std::isfinite(best)) return {};
  block(box);
  return found;
}

std::optional<PlacedLabel> LabelPlace::place_at(double x, double y, std::string_view text) {
  const Box box = text_box(x, y, text);
  if (!std::isfinite(cost(box))) return {};
  block(box);
  return PlacedLabel{x, y};
}

std::vector<double> spread(std::vector<double> wanted, double distance, double top, double bottom) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  // Blocks of labels that touch; each stands at the mean of what its labels want.
  struct Run {
    double sum;  // of wishes, each less its offset in the run
    double count;
    double begin(double distance, double top, double bottom) const {
      return std::max(top, std::min(sum / count, bottom - (count - 1) * distance));
    }
  };
  std::vector<Run> runs;
  for (const std::size_t i : order) {
    runs.push_back({wanted[i], 1});
    while (runs.size() > 1) {
      const Run last = runs.back();
      Run& before = runs[runs.size() - 2];
      if (before.begin(distance, top, bottom) + before.count * distance <= last.begin(distance, top, bottom)) break;
      before.sum += last.sum - last.count * before.count * distance;
      before.count += last.count;
      runs.pop_back();
    }
  }
  std::size_t next = 0;
  for (const Run& run : runs) {
    double at = run.begin(distance, top, bottom);
    for (double i = 0; i < run.count; ++i, at += distance) wanted[order[next++]] = at;
  }
  return wanted;
}

}  // namespace lockstep::report
