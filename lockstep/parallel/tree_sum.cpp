#include "lockstep/parallel/tree_sum.hpp"

#include <bit>

namespace lockstep {

template <class T>
TreeSum<T>::TreeSum(std::int64_t size, std::int64_t leaves) {
  const int levels = std::bit_width(static_cast<std::uint64_t>(leaves));
  for (int i = 0; i < levels; ++i) levels_.push_back({AlignedBuffer<T>(size)});
}

template <class T>
void TreeSum<T>::push(const KernelTable<T>& kernels, KernelContext& context) {
  levels_[depth_++].level = 0;
  while (depth_ >= 2 && levels_[depth_ - 2].level == levels_[depth_ - 1].level) {
    Node &left = levels_[depth_ - 2], &right = levels_[depth_ - 1];
    const std::int64_t size = left.sum.size();
    const Matrix<T> sum = dense_matrix(left.sum.data(), 1, size);
    kernels.add({.a = sum, .b = dense_matrix<const T>(right.sum.data(), 1, size), .y = sum}, context);
    ++left.level;
    --depth_;
  }
}

template class TreeSum<float>;
template class TreeSum<double>;

}  // namespace lockstep
