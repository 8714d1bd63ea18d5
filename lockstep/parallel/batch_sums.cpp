#include "lockstep/parallel/batch_sums.hpp"

#include <algorithm>

#include "lockstep/kernels/slots.hpp"

namespace lockstep {

namespace {

/// The sums of neighbours, one level of the tree after the other: a power of two of them. Empty ones are zeros.
template <class T>
void add_nodes(std::span<const std::vector<T>> nodes, std::span<T> sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const auto leaf = [&](std::int64_t node) {
      const std::vector<T>& own = nodes[static_cast<std::size_t>(node)];
      return own.empty() ? T(0) : own[i];
    };
    sum[i] = slot_tree(leaf, 0, static_cast<std::int64_t>(nodes.size()));
  }
}

}  // namespace

template <class T>
BatchSums<T>::BatchSums(Ranks& ranks, std::int64_t slots, int threads) : ranks_(ranks), slots_(slots) {
  for (Round& round : rounds_) round.threads.resize(static_cast<std::size_t>(threads));
}

/// Every rank knows it of every other one.
template <class T>
bool BatchSums<T>::has_samples(int rank, std::int64_t samples) const {
  const std::vector<std::int64_t> bounds = cut_into_slots(samples, slots_);
  return bounds[static_cast<std::size_t>(ranks_.share(slots_, rank + 1))] >
         bounds[static_cast<std::size_t>(ranks_.share(slots_, rank))];
}

/// By thread 0 of every rank that has samples.
template <class T>
void BatchSums<T>::exchange(Round& round, std::int64_t samples) {
  add_nodes<T>(round.threads, round.total);
  nodes_.resize(static_cast<std::size_t>(ranks_.size()));
  std::size_t used = 0;
  const auto count = static_cast<std::int64_t>(round.total.size());
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_.share(slots_, rank) == ranks_.share(slots_, rank + 1)) continue;
    std::vector<T>& node = nodes_[used++];
    node.clear();
    if (rank == ranks_.rank()) {
      node = round.total;
    } else if (has_samples(rank, samples)) {
      node.resize(round.total.size());
      ranks_.send(rank, bytes_of(round.total.data(), count));
      ranks_.receive(rank, writable_bytes_of(node.data(), count));
    }
  }
  ranks_.wait("batch statistics");
  add_nodes<T>(std::span(nodes_).first(used), round.total);
}

template <class T>
void BatchSums<T>::Thread::begin(BatchSums& shared, const Member& member, std::int64_t samples) {
  shared_ = &shared;
  member_ = &member;
  samples_ = samples;
  round_ = 0;
}

/// sums: empty where this thread has none.
template <class T>
void BatchSums<T>::Thread::meet(std::span<const T> sums) {
  Round& round = shared_->rounds_[round_ % 2];
  round.threads[static_cast<std::size_t>(member_->index)].assign(sums.begin(), sums.end());
  member_->barrier.wait();
  if (shared_->ranks_.size() == 1) return;
  if (member_->index == 0 && shared_->has_samples(shared_->ranks_.rank(), samples_)) {
    std::size_t width = 0;
    for (const std::vector<T>& each : round.threads) width = std::max(width, each.size());
    round.total.resize(width);
    shared_->exchange(round, samples_);
  }
  member_->barrier.wait();
}

template <class T>
void BatchSums<T>::Thread::add_up(std::span<T> sums) {
  meet(sums);
  const Round& round = shared_->rounds_[round_ % 2];
  if (shared_->ranks_.size() == 1)
    add_nodes<T>(round.threads, sums);
  else
    std::copy(round.total.begin(), round.total.end(), sums.begin());
  ++round_;
}

template <class T>
void BatchSums<T>::Thread::skip(std::int64_t calls) {
  for (; calls > 0; --calls, ++round_) meet({});
}

template class BatchSums<float>;
template class BatchSums<double>;

}  // namespace lockstep
