#pragma once
// "Did you mean": the known name that is nearest to what was written.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

/// Letters to insert, delete, replace or swap with their neighbour (each swap once) to get from one to the other.
std::int64_t edit_distance(std::string_view from, std::string_view to);

/// The candidate with the smallest distance, the first of equals; nothing when all differ in more than a third of
/// their letters. Letter case and the difference of '-' and '_' cost nothing. A name of other programs (batch_size)
/// comes first.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean x?" or, where nothing is near, "; known are a, b, c".
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace lockstep
