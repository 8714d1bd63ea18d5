#include "lockstep/parallel/rank_tree.hpp"

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

/// A range of stretches, halved bit by bit of the rank.
struct Range {
  std::size_t first, last;
  Range half(bool low) const {
    const std::size_t middle = (first + last) / 2;
    return low ? Range{first, middle} : Range{middle, last};
  }
};

}  // namespace

template <class T>
RankTree<T>::RankTree(Ranks& ranks, std::int64_t slots, const StretchLayout& layout, RankReduction reduction)
    : ranks_(ranks),
      slots_(slots),
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

template <class T>
template <class U>
void RankTree<T>::send(int to, const U* data, std::int64_t first, std::int64_t last) {
  ranks_.send(to, bytes_of(data + first, last - first));
  bytes_sent_ += (last - first) * static_cast<std::int64_t>(sizeof(U));
}

template <class T>
template <class U>
void RankTree<T>::receive(int from, U* data, std::int64_t first, std::int64_t last) {
  ranks_.receive(from, writable_bytes_of(data + first, last - first));
}

template <class T>
T* RankTree<T>::halve(T* sum, const KernelTable<T>& kernels, KernelContext& context) {
  if (ranks_.size() > 1 && scratch_.size() == 0) scratch_ = AlignedBuffer<T>(layout_.elements);
  Range range{0, static_cast<std::size_t>(ranks_.size())};
  for (int bit = 1; bit < ranks_.size(); bit *= 2) {
    const int sibling = ranks_.rank() ^ bit;
    const bool low = (ranks_.rank() & bit) == 0;
    const Range theirs = range.half(!low);
    range = range.half(low);
    const std::int64_t first = bounds_[range.first], last = bounds_[range.last];
    send(sibling, sum, bounds_[theirs.first], bounds_[theirs.last]);
    receive(sibling, scratch_.data(), first, last);
    ranks_.wait("reduce");
    // left + right and right + left are the same bits.
    add_into(sum + first, scratch_.data() + first, last - first, kernels, context);
  }
  return sum;
}

template <class T>
T* RankTree<T>::exchange(std::span<const Subtree<T>> local, const KernelTable<T>& kernels, KernelContext& context) {
  const std::int64_t count = last() - first();
  std::vector<Subtree<T>> nodes;
  std::vector<int> owners;
  for (int peer = 0; peer < ranks_.size(); ++peer) {
    const auto theirs = subtrees_of<T>(ranks_.share(slots_, peer), ranks_.share(slots_, peer + 1));
    nodes.insert(nodes.end(), theirs.begin(), theirs.end());
    owners.insert(owners.end(), theirs.size(), peer);
  }
  const auto needed = count * static_cast<std::int64_t>(nodes.size());
  if (scratch_.size() < needed) scratch_ = AlignedBuffer<T>(needed);
  std::size_t own = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (owners[i] == ranks_.rank()) {
      nodes[i].sum = local[own++].sum + first();
      for (int peer = 0; peer < ranks_.size(); ++peer) {
        const auto to = static_cast<std::size_t>(peer);
        if (peer != ranks_.rank()) send(peer, nodes[i].sum - first(), bounds_[to], bounds_[to + 1]);
      }
    } else {
      nodes[i].sum = scratch_.data() + static_cast<std::int64_t>(i) * count;
      receive(owners[i], nodes[i].sum, 0, count);
    }
  }
  ranks_.wait("reduce");
  const Subtree<T> root = add_up<T>(nodes, 0, count, kernels, context).front();
  if (total_.size() == 0) total_ = AlignedBuffer<T>(layout_.elements);
  std::copy_n(root.sum, count, total_.data() + first());
  return total_.data();
}

template <class T>
T* RankTree<T>::sum_by_library(std::span<const Subtree<T>> local, const KernelTable<T>& kernels,
                               KernelContext& context) {
  if (total_.size() == 0) total_ = AlignedBuffer<T>(layout_.elements);
  std::fill_n(total_.data(), layout_.elements, T(0));  // a rank without slots adds nothing
  for (const Subtree<T>& node : local) add_into(total_.data(), node.sum, layout_.elements, kernels, context);
  ranks_.start_library_sum(std::span(total_.data(), static_cast<std::size_t>(layout_.elements)));
  ranks_.wait("reduce");
  return total_.data();
}

template <class T>
T* RankTree<T>::reduce(std::span<const Subtree<T>> local, const KernelTable<T>& kernels, KernelContext& context) {
  if (reduction_ == RankReduction::library) return sum_by_library(local, kernels, context);
  return halving_ ? halve(local[0].sum, kernels, context) : exchange(local, kernels, context);
}

template <class T>
template <class U>
void RankTree<T>::gather_stretches(U* data, const std::vector<std::int64_t>& bounds) {
  if (reduction_ == RankReduction::library) return;  // everybody has everything
  if (!halving_) {
    for (int peer = 0; peer < ranks_.size(); ++peer) {
      if (peer == ranks_.rank()) continue;
      const auto theirs = static_cast<std::size_t>(peer);
      send(peer, data, bounds[own_], bounds[own_ + 1]);
      receive(peer, data, bounds[theirs], bounds[theirs + 1]);
    }
    ranks_.wait("gather");
    return;
  }
  // What this rank holds is the range that halving would leave it after `bit`; its sibling holds the other half.
  for (int bit = ranks_.size() / 2; bit >= 1; bit /= 2) {
    Range parent{0, static_cast<std::size_t>(ranks_.size())};
    for (int above = 1; above < bit; above *= 2) parent = parent.half((ranks_.rank() & above) == 0);
    const bool low = (ranks_.rank() & bit) == 0;
    const Range mine = parent.half(low), theirs = parent.half(!low);
    send(ranks_.rank() ^ bit, data, bounds[mine.first], bounds[mine.last]);
    receive(ranks_.rank() ^ bit, data, bounds[theirs.first], bounds[theirs.last]);
    ranks_.wait("gather");
  }
}

template class RankTree<float>;
template class RankTree<double>;

}  // namespace lockstep
