#include "lockstep/parallel/rank_tree.hpp"

#include <algorithm>
#include <bit>

#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

namespace {

/// Before a transport touches what kernels write or read.
void settle(const KernelContext& context) {
  if (&context.memory() != &host_memory()) context.device().synchronize();
}

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
  const auto stretch = [&](std::size_t of) {
    return writable_bytes_of(data + bounds[of], bounds[of + 1] - bounds[of]);
  };
  ranks_.exchange(stretch(own_), [&](int peer) { return stretch(static_cast<std::size_t>(peer)); });
  bytes_sent_ += (ranks_.size() - 1) * static_cast<std::int64_t>(stretch(own_).size());
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

template void RankStretches::gather_stretches(float*, const std::vector<std::int64_t>&);
template void RankStretches::gather_stretches(double*, const std::vector<std::int64_t>&);

template <class T>
RankTree<T>::RankTree(Ranks& ranks, std::int64_t slots, const StretchLayout& layout, RankReduction reduction)
    : RankStretches(ranks, slots, layout, reduction), slots_(slots) {}

/// Memory for what the other ranks send.
template <class T>
void RankTree<T>::begin(std::span<const Subtree<T>> local, Memory& memory) {
  started_ = true;
  local_.assign(local.begin(), local.end());
  if (halving_) {
    if (ranks_.size() > 1 && scratch_.size() == 0) scratch_ = AlignedBuffer<T>(layout_.elements, memory);
    return;
  }
  if (total_.size() == 0) total_ = AlignedBuffer<T>(layout_.elements, memory);
  if (reduction_ == RankReduction::library) return;
  nodes_.clear();
  owners_.clear();
  for (int peer = 0; peer < ranks_.size(); ++peer) {
    const auto theirs = subtrees_of<T>(ranks_.share(slots_, peer), ranks_.share(slots_, peer + 1));
    nodes_.insert(nodes_.end(), theirs.begin(), theirs.end());
    owners_.insert(owners_.end(), theirs.size(), peer);
  }
  const std::int64_t count = this->last() - this->first();
  const auto needed = count * static_cast<std::int64_t>(nodes_.size());
  if (scratch_.size() < needed) scratch_ = AlignedBuffer<T>(needed, memory);
  std::size_t own = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    nodes_[i].sum = owners_[i] == ranks_.rank() ? local_[own++].sum + this->first()
                                                : scratch_.data() + static_cast<std::int64_t>(i) * count;
}

template <class T>
void RankTree<T>::start_halving(std::int64_t first, std::int64_t last, int bit) {
  const int sibling = ranks_.rank() ^ bit;
  const bool low = (ranks_.rank() & bit) == 0;
  const StretchRange range = range_before(bit), mine = range.half(low), theirs = range.half(!low);
  const auto within = [&](std::size_t bound) { return std::clamp(bounds_[bound], first, last); };
  send(sibling, local_[0].sum, within(theirs.first), within(theirs.last));
  receive(sibling, scratch_.data(), within(mine.first), within(mine.last));
}

template <class T>
T* RankTree<T>::finish_halving(const KernelTable<T>& kernels, KernelContext& context) {
  T* const sum = local_[0].sum;
  for (int bit = 1; bit < ranks_.size(); bit *= 2) {
    if (bit > 1) {
      settle(context);
      start_halving(0, layout_.elements, bit);
    }
    ranks_.wait("reduce");
    // left + right and right + left are the same bits.
    const StretchRange range = range_before(2 * bit);
    const std::int64_t first = bounds_[range.first], last = bounds_[range.last];
    add_into(sum + first, scratch_.data() + first, last - first, kernels, context);
    additions_ += last - first;
  }
  return sum;
}

template <class T>
void RankTree<T>::start_exchange(std::int64_t first, std::int64_t last) {
  const auto within = [&](std::size_t bound) { return std::clamp(bounds_[bound], first, last); };
  std::size_t own = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (owners_[i] != ranks_.rank()) {
      receive(owners_[i], nodes_[i].sum, within(own_) - this->first(), within(own_ + 1) - this->first());
      continue;
    }
    const T* const sum = local_[own++].sum;
    for (int peer = 0; peer < ranks_.size(); ++peer) {
      const auto to = static_cast<std::size_t>(peer);
      if (peer != ranks_.rank()) send(peer, sum, within(to), within(to + 1));
    }
  }
}

template <class T>
T* RankTree<T>::finish_exchange(const KernelTable<T>& kernels, KernelContext& context) {
  ranks_.wait("reduce");
  const std::int64_t count = last() - first();
  const Subtree<T> root = add_up<T>(nodes_, 0, count, kernels, context).front();
  additions_ += (static_cast<std::int64_t>(nodes_.size()) - 1) * count;
  if (count > 0)
    context.memory().copy_within(reinterpret_cast<std::byte*>(total_.data() + first()),
                                 reinterpret_cast<const std::byte*>(root.sum),
                                 count * static_cast<std::int64_t>(sizeof(T)));
  return total_.data();
}

template <class T>
void RankTree<T>::start(std::span<const Subtree<T>> local, std::int64_t first, std::int64_t last,
                        const KernelTable<T>& kernels, KernelContext& context) {
  if (!started_) begin(local, context.memory());
  settle(context);
  if (reduction_ == RankReduction::library) {
    std::fill(total_.data() + first, total_.data() + last, T(0));  // a rank without slots adds nothing
    for (const Subtree<T>& node : local_)
      add_into(total_.data() + first, node.sum + first, last - first, kernels, context);
    additions_ += static_cast<std::int64_t>(local_.size()) * (last - first);
    ranks_.start_library_sum(std::span(total_.data() + first, static_cast<std::size_t>(last - first)));
  } else if (!halving_) {
    start_exchange(first, last);
  } else if (ranks_.size() > 1) {
    start_halving(first, last, 1);
  }
}

template <class T>
T* RankTree<T>::finish(const KernelTable<T>& kernels, KernelContext& context) {
  started_ = false;
  if (reduction_ != RankReduction::library) {
    T* const sum = halving_ ? finish_halving(kernels, context) : finish_exchange(kernels, context);
    settle(context);
    return sum;
  }
  ranks_.wait("reduce");
  return total_.data();
}

template class RankTree<float>;
template class RankTree<double>;

}  // namespace lockstep
