#include "lockstep/parallel/rank_stretches.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

/// The lowest `bits` bits of `value`, in the opposite order.
std::size_t reversed(unsigned value, int bits) {
  std::size_t result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= std::size_t{(value >> bit) & 1U} << (bits - 1 - bit);
  return result;
}

}  // namespace

RankStretches::RankStretches(Ranks& ranks, std::int64_t slots, const StretchLayout& layout, RankReduction reduction)
    : ranks_(ranks),
      layout_(layout),
      reduction_(reduction),
      halving_(reduction == RankReduction::tree && std::has_single_bit(static_cast<unsigned>(ranks.size())) &&
               ranks.size() <= slots) {
  const std::int64_t blocks = (layout.divisible + layout.block - 1) / layout.block;
  const bool shared = reduction == RankReduction::tree;
  const int owners = shared ? ranks.size() : 1;
  for (int i = 0; i <= ranks.size(); ++i) {
    const int owner = std::min(i, owners);
    block_bounds_.push_back(blocks * owner / owners);
    divisible_bounds_.push_back(std::min(layout.divisible, block_bounds_.back() * layout.block));
    bounds_.push_back(owner == owners ? layout.elements : divisible_bounds_.back());
  }
  const auto rank = static_cast<unsigned>(ranks.rank());
  own_ = halving_                              ? reversed(rank, std::countr_zero(static_cast<unsigned>(ranks.size())))
         : reduction == RankReduction::library ? 0
                                               : rank;
  owns_the_end_ = own_ + 1 == static_cast<std::size_t>(owners);
}

StretchRange RankStretches::range_before(int bit) const {
  StretchRange range{0, static_cast<std::size_t>(ranks_.size())};
  for (int before = 1; before < bit; before *= 2) range = range.half((ranks_.rank() & before) == 0);
  return range;
}

template <class T>
void RankStretches::send(int to, const T* data, std::int64_t first, std::int64_t last) {
  if (first == last) return;
  ranks_.send(to, bytes_of(data + first, last - first));
  bytes_sent_ += (last - first) * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
void RankStretches::receive(int from, T* data, std::int64_t first, std::int64_t last) {
  if (first == last) return;
  ranks_.receive(from, writable_bytes_of(data + first, last - first));
}

template <class T>
void RankStretches::send_to_all(T* data, const std::vector<std::int64_t>& bounds) {
  for (int peer = 0; peer < ranks_.size(); ++peer) {
    if (peer == ranks_.rank()) continue;
    const auto theirs = static_cast<std::size_t>(peer);
    send(peer, data, bounds[own_], bounds[own_ + 1]);
    receive(peer, data, bounds[theirs], bounds[theirs + 1]);
  }
  ranks_.wait("gather");
}

/// With stretches [rank, rank + known) in hand, sends them to rank - known.
template <class T>
void RankStretches::relay(T* data, const std::vector<std::int64_t>& bounds) {
  const int size = ranks_.size();
  for (int known = 1; known < size; known *= 2) {
    // Two pieces where rank 0 follows the last one.
    const auto move = [&](int first, const auto& piece) {
      const int last = first + std::min(known, size - known);
      piece(bounds[static_cast<std::size_t>(first)], bounds[static_cast<std::size_t>(std::min(last, size))]);
      piece(bounds[0], bounds[static_cast<std::size_t>(std::max(0, last - size))]);
    };
    const int to = (ranks_.rank() + size - known) % size, from = (ranks_.rank() + known) % size;
    move(ranks_.rank(), [&](std::int64_t first, std::int64_t last) { send(to, data, first, last); });
    move(from, [&](std::int64_t first, std::int64_t last) { receive(from, data, first, last); });
    ranks_.wait("gather");
  }
}

template <class T>
void RankStretches::gather_stretches(T* data, const std::vector<std::int64_t>& bounds) {
  if (reduction_ == RankReduction::library) return;  // every rank owns everything
  if (!halving_)
    return reduction_ == RankReduction::tree && ranks_.size() > kMostDirect ? relay(data, bounds)
                                                                            : send_to_all(data, bounds);
  // What this rank holds is the range that halving would leave it after `bit`; its sibling holds the other half.
  for (int bit = ranks_.size() / 2; bit >= 1; bit /= 2) {
    const StretchRange parent = range_before(bit);
    const bool low = (ranks_.rank() & bit) == 0;
    const StretchRange mine = parent.half(low), theirs = parent.half(!low);
    send(ranks_.rank() ^ bit, data, bounds[mine.first], bounds[mine.last]);
    receive(ranks_.rank() ^ bit, data, bounds[theirs.first], bounds[theirs.last]);
    ranks_.wait("gather");
  }
}

template void RankStretches::send(int, const float*, std::int64_t, std::int64_t);
template void RankStretches::send(int, const double*, std::int64_t, std::int64_t);
template void RankStretches::receive(int, float*, std::int64_t, std::int64_t);
template void RankStretches::receive(int, double*, std::int64_t, std::int64_t);
template void RankStretches::gather_stretches(float*, const std::vector<std::int64_t>&);
template void RankStretches::gather_stretches(double*, const std::vector<std::int64_t>&);

}  // namespace lockstep
