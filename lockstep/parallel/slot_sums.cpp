#include "lockstep/parallel/slot_sums.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

/// left += right over a stretch of the vector.
template <class T>
void add_into(T* left, const T* right, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context) {
  const Matrix<T> sum = dense_matrix(left, 1, count);
  kernels.add({.a = sum, .b = dense_matrix(right, 1, count), .y = sum}, context);
}

}  // namespace

template <class T>
T* SlotSums<T>::next() {
  if (depth_ == nodes_.size()) nodes_.push_back({AlignedBuffer<T>(size_)});
  return nodes_[depth_].sum.data();
}

template <class T>
void SlotSums<T>::push(int level, std::int64_t index, const KernelTable<T>& kernels, KernelContext& context) {
  nodes_[depth_].level = level;
  nodes_[depth_].index = index;
  ++depth_;
  while (depth_ >= 2) {
    SlotNode<T>&left = nodes_[depth_ - 2], &right = nodes_[depth_ - 1];
    if (left.level != right.level || left.index % 2 != 0) return;
    add_into(left.sum.data(), right.sum.data(), size_, kernels, context);
    ++left.level;
    left.index /= 2;
    --depth_;
  }
}

std::int64_t aligned_run(std::int64_t first, std::int64_t last, std::int64_t most) {
  const auto room = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(last - first)));
  const std::int64_t alignment = first == 0 ? room : first & -first;
  return std::min({room, alignment, most});
}

template <class T>
T* finish_tree(std::span<SlotNode<T>* const> nodes, std::int64_t first, std::int64_t count,
               const KernelTable<T>& kernels, KernelContext& context) {
  // The binary counter again, over the few subtrees that are left: (level, index) of what each stack entry sums.
  struct Entry {
    T* sum;
    int level;
    std::int64_t index;
  };
  std::vector<Entry> stack;
  for (SlotNode<T>* node : nodes) {
    stack.push_back({node->sum.data(), node->level, node->index});
    while (stack.size() >= 2) {
      Entry &left = stack[stack.size() - 2], &right = stack.back();
      if (left.level != right.level || left.index % 2 != 0) break;
      add_into(left.sum + first, right.sum + first, count, kernels, context);
      ++left.level;
      left.index /= 2;
      stack.pop_back();
    }
  }
  return stack.front().sum;
}

template class SlotSums<float>;
template class SlotSums<double>;
template float* finish_tree<float>(std::span<SlotNode<float>* const>, std::int64_t, std::int64_t,
                                   const KernelTable<float>&, KernelContext&);
template double* finish_tree<double>(std::span<SlotNode<double>* const>, std::int64_t, std::int64_t,
                                     const KernelTable<double>&, KernelContext&);

}  // namespace lockstep
