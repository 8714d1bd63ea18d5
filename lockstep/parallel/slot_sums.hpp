#pragma once
// The aligned binary tree over slots, computed by several workers. Each worker adds up the subtrees that lie wholly in
// its range of slots as they come, like a binary counter (memory: about log2(slots) vectors). The remaining subtrees
// are added over stretches of the vector, by any number of workers at once.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

/// A vector of `size` elements to be written and added up; never null, even where a rank holds no parameters.
template <class T>
AlignedBuffer<T> slot_vector(std::int64_t size, Memory& where = host_memory()) {
  return AlignedBuffer<T>(std::max<std::int64_t>(size, 1), where);
}

/// A node of the tree: the sum over slots [index << level, (index + 1) << level).
struct NodeId {
  int level = 0;
  std::int64_t index = 0;
};
/// The node of `count` slots from `first` on, an aligned power of two of them.
inline NodeId node_of(std::int64_t first, std::int64_t count) {
  return {std::countr_zero(static_cast<std::uint64_t>(count)), first / count};
}

template <class T>
struct SlotNode {
  AlignedBuffer<T> sum;
  int level = 0;
  std::int64_t index = 0;
};

/// One worker's subtrees.
template <class T>
class SlotSums {
 public:
  /// For vectors of `size` elements, where the kernels that add them work.
  explicit SlotSums(std::int64_t size, Memory& where = host_memory()) : size_(size), where_(where) {}

  void clear() { depth_ = 0; }
  /// The same, and gives its memory back.
  void release() {
    clear();
    nodes_.clear();
  }
  /// Where the next node is to be written; every element must be.
  T* next() { return next_buffer().data(); }
  /// The same place; it may be exchanged for another vector of the same size, written before.
  AlignedBuffer<T>& next_buffer();
  /// The next node is written: the right neighbour of the one before. Adds up what it completes; returns the additions
  /// of vectors.
  std::size_t push(NodeId node, const KernelTable<T>& kernels, KernelContext& context);
  /// The same in parts, for the last node: it will be written from now on, and nodes() says what will be there then.
  /// Returns the additions of vectors that it completes.
  std::size_t announce(NodeId node);
  /// Elements [first, first + count) of it are written.
  void add_announced(std::int64_t first, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context);
  /// The complete subtrees, left to right.
  std::span<SlotNode<T>> nodes() { return std::span(nodes_).first(depth_); }

 private:
  std::int64_t size_;
  Memory& where_;
  std::vector<SlotNode<T>> nodes_;
  std::size_t depth_ = 0;
  std::size_t additions_ = 0;  // that the last node completes, each into the vector before it
};

/// left += right, the addition of the tree.
template <class T>
void add_into(T* left, const T* right, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context) {
  const Matrix<T> sum = dense_matrix(left, 1, count);
  kernels.add({.a = sum, .b = dense_matrix(right, 1, count), .y = sum}, context);
}

/// The largest aligned subtree that starts at slot `first`, ends by `last` and has at most `most` slots: its slots.
std::int64_t aligned_run(std::int64_t first, std::int64_t last, std::int64_t most);

/// Where a subtree's sum lies: node (level, index) of the tree.
template <class T>
struct Subtree {
  T* sum = nullptr;
  int level = 0;
  std::int64_t index = 0;
};

/// The subtrees that slots [first, last) fall into: the fewest, left to right, without sums.
template <class T>
std::vector<Subtree<T>> subtrees_of(std::int64_t first, std::int64_t last);
/// The complete subtrees of several workers, left to right.
template <class T>
std::vector<Subtree<T>> subtrees_of(std::span<SlotSums<T>* const> workers);

/// Adds neighbours as far as the tree allows, for elements [first, first + count) of their vectors: `nodes` lie side by
/// side, left to right. Adds in place, into the leftmost vector of each subtree; returns the subtrees that remain: the
/// root alone when the nodes cover all slots.
template <class T>
std::vector<Subtree<T>> add_up(std::span<const Subtree<T>> nodes, std::int64_t first, std::int64_t count,
                               const KernelTable<T>& kernels, KernelContext& context);

}  // namespace lockstep
