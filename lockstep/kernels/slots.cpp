#include "lockstep/kernels/slots.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

std::int64_t auto_slots(std::int64_t batch) {
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(batch / kLanes, 1));
  return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(wanted)), kMaxAutoSlots);
}

std::vector<std::int64_t> cut_into_slots(std::int64_t samples, std::int64_t slots) {
  const auto per_slot = static_cast<std::uint64_t>(std::max<std::int64_t>(samples / slots, 1));
  const std::int64_t unit = std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(per_slot)), kLanes);
  const std::int64_t units = (samples + unit - 1) / unit;
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(slots + 1));
  for (std::int64_t k = 0; k <= slots; ++k)
    bounds[static_cast<std::size_t>(k)] = std::min(samples, units * k / slots * unit);
  return bounds;
}

double block_tree(std::span<const double> leaves) {
  if (leaves.empty()) return 0;
  if (leaves.size() == 1) return leaves[0];
  const std::size_t left = std::bit_floor(leaves.size() - 1);
  return block_tree(leaves.first(left)) + block_tree(leaves.subspan(left));
}

}  // namespace lockstep
