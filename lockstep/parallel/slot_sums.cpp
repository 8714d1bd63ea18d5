#include "lockstep/parallel/slot_sums.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

template <class T>
AlignedBuffer<T>& SlotSums<T>::next_buffer() {
  if (depth_ == nodes_.size()) nodes_.push_back({slot_vector<T>(size_, where_)});
  return nodes_[depth_].sum;
}

template <class T>
std::size_t SlotSums<T>::push(NodeId node, const KernelTable<T>& kernels, KernelContext& context) {
  announce(node);
  add_announced(0, size_, kernels, context);
  return additions_;
}

template <class T>
std::size_t SlotSums<T>::announce(NodeId node) {
  nodes_[depth_].level = node.level;
  nodes_[depth_].index = node.index;
  ++depth_;
  for (additions_ = 0; depth_ >= 2; ++additions_, --depth_) {
    SlotNode<T>&left = nodes_[depth_ - 2], &right = nodes_[depth_ - 1];
    if (left.level != right.level || left.index % 2 != 0) break;
    ++left.level;
    left.index /= 2;
  }
  return additions_;
}

template <class T>
void SlotSums<T>::add_announced(std::int64_t first, std::int64_t count, const KernelTable<T>& kernels,
                                KernelContext& context) {
  for (std::size_t right = depth_ - 1 + additions_; right >= depth_; --right)
    add_into(nodes_[right - 1].sum.data() + first, nodes_[right].sum.data() + first, count, kernels, context);
}

std::int64_t aligned_run(std::int64_t first, std::int64_t last, std::int64_t most) {
  const auto room = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(last - first)));
  const std::int64_t alignment = first == 0 ? room : first & -first;
  return std::min({room, alignment, most});
}

template <class T>
std::vector<Subtree<T>> subtrees_of(std::int64_t first, std::int64_t last) {
  std::vector<Subtree<T>> subtrees;
  for (std::int64_t run = 0; first < last; first += run) {
    run = aligned_run(first, last, last - first);
    const NodeId node = node_of(first, run);
    subtrees.push_back({nullptr, node.level, node.index});
  }
  return subtrees;
}

template <class T>
std::vector<Subtree<T>> subtrees_of(std::span<SlotSums<T>* const> workers) {
  std::vector<Subtree<T>> subtrees;
  for (SlotSums<T>* worker : workers)
    for (SlotNode<T>& node : worker->nodes()) subtrees.push_back({node.sum.data(), node.level, node.index});
  return subtrees;
}

template <class T>
std::vector<Subtree<T>> add_up(std::span<const Subtree<T>> nodes, std::int64_t first, std::int64_t count,
                               const KernelTable<T>& kernels, KernelContext& context) {
  // The binary counter again, over the few subtrees that are left.
  std::vector<Subtree<T>> stack;
  for (const Subtree<T>& node : nodes) {
    stack.push_back(node);
    while (stack.size() >= 2) {
      Subtree<T>&left = stack[stack.size() - 2], &right = stack.back();
      if (left.level != right.level || left.index % 2 != 0) break;
      add_into(left.sum + first, right.sum + first, count, kernels, context);
      ++left.level;
      left.index /= 2;
      stack.pop_back();
    }
  }
  return stack;
}

template class SlotSums<float>;
template class SlotSums<double>;
template std::vector<Subtree<float>> subtrees_of<float>(std::int64_t, std::int64_t);
template std::vector<Subtree<double>> subtrees_of<double>(std::int64_t, std::int64_t);
template std::vector<Subtree<float>> subtrees_of(std::span<SlotSums<float>* const>);
template std::vector<Subtree<double>> subtrees_of(std::span<SlotSums<double>* const>);
template std::vector<Subtree<float>> add_up<float>(std::span<const Subtree<float>>, std::int64_t, std::int64_t,
                                                   const KernelTable<float>&, KernelContext&);
template std::vector<Subtree<double>> add_up<double>(std::span<const Subtree<double>>, std::int64_t, std::int64_t,
                                                     const KernelTable<double>&, KernelContext&);

}  // namespace lockstep
