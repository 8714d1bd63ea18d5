#include "lockstep/config/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

namespace {

// A name from a hostile file may be a megabyte long; none of ours is longer than this.
constexpr std::size_t kLongestName = 64;

/// What other programs call our keys.
constexpr std::pair<std::string_view, std::string_view> kForeignNames[] = {{"target", "label_column"},
                                                                           {"label", "label_column"},
                                                                           {"target_column", "label_column"},
                                                                           {"path", "source"},
                                                                           {"file", "source"},
                                                                           {"delim", "delimiter"},
                                                                           {"sep", "delimiter"},
                                                                           {"batch_size", "batch"},
                                                                           {"num_epochs", "epochs"},
                                                                           {"learning_rate", "lr"},
                                                                           {"objective", "loss"},
                                                                           {"mse", "squared-error"},
                                                                           {"mean_squared_error", "squared-error"},
                                                                           {"bce", "binary-cross-entropy"},
                                                                           {"crossentropy", "cross-entropy"},
                                                                           {"input_shape", "input"},
                                                                           {"in_shape", "input"},
                                                                           {"hidden_size", "hidden"},
                                                                           {"dtype", "precision"},
                                                                           {"out_features", "out"},
                                                                           {"out_channels", "out"},
                                                                           {"units", "out"},
                                                                           {"filters", "out"},
                                                                           {"kernel_size", "kernel"},
                                                                           {"padding", "pad"},
                                                                           {"strides", "stride"},
                                                                           {"num_heads", "heads"}};

std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

}  // namespace

std::int64_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t rows = from.size() + 1, cols = to.size() + 1;
  std::vector<std::int64_t> table(rows * cols);
  const auto at = [&](std::size_t r, std::size_t c) -> std::int64_t& { return table[r * cols + c]; };
  for (std::size_t r = 0; r < rows; ++r) at(r, 0) = static_cast<std::int64_t>(r);
  for (std::size_t c = 0; c < cols; ++c) at(0, c) = static_cast<std::int64_t>(c);
  for (std::size_t r = 1; r < rows; ++r) {
    for (std::size_t c = 1; c < cols; ++c) {
      const std::int64_t replace = at(r - 1, c - 1) + (from[r - 1] == to[c - 1] ? 0 : 1);
      at(r, c) = std::min({at(r - 1, c) + 1, at(r, c - 1) + 1, replace});
      if (r > 1 && c > 1 && from[r - 1] == to[c - 2] && from[r - 2] == to[c - 1])
        at(r, c) = std::min(at(r, c), at(r - 2, c - 2) + 1);
    }
  }
  return at(rows - 1, cols - 1);
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > kLongestName) return std::nullopt;
  const std::string wanted = folded(name);
  for (const auto& [foreign, ours] : kForeignNames)
    if (wanted == foreign && std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
      return std::string(ours);
  std::optional<std::string> best;
  std::int64_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::int64_t distance = edit_distance(wanted, folded(candidate));
    const auto longer = static_cast<std::int64_t>(std::max(name.size(), candidate.size()));
    if (3 * distance > std::max<std::int64_t>(longer, 3)) continue;
    if (!best || distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  if (const auto near = nearest(name, candidates)) return fmt::format("; did you mean {}?", *near);
  return fmt::format("; known are {}", fmt::join(candidates, ", "));
}

}  // namespace lockstep
