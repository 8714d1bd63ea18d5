// The first half of a step: the gradients of every member's slots, and how they become sums.

#include <algorithm>
#include <array>
#include <bit>

#include "lockstep/train/engine.hpp"
#include "lockstep/train/lap.hpp"

namespace lockstep {

/// Samples [first, first + columns.back()) of the batch, cut into slots at `columns`. Where their gradients go is to be
/// set.
template <class T>
typename Worker<T>::Chunk Engine<T>::chunk_of(const Member& member, const Batch& batch, std::int64_t first,
                                              std::span<const std::int64_t> columns) {
  return {.data = batch.data,
          .ids = batch.ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(columns.back())),
          .slots = {columns},
          .parameters = weights(),
          .columns = columns_ ? columns_->data() : nullptr,
          .scale = options_.reduction == Reduction::mean ? T(1) / T(batch.ids.size()) : T(1),
          .seed = options_.seed,
          .epoch = static_cast<std::uint32_t>(progress_.epoch),
          .recorder = profile_ == nullptr ? nullptr : &profile_->recorder(member.index)};
}

/// The sums of `run` slots from `slot` on are written where SlotSums wanted them.
template <class T>
void Engine<T>::push(const Member& member, std::int64_t slot, std::int64_t run) {
  Seat& own = seat(member);
  Lap lap;
  const std::int64_t before = own.sums.node_count();
  own.sums.push(std::countr_zero(static_cast<std::uint64_t>(run)), slot / run, kernels_, own.worker.context());
  lap(own.times.reduce);
  const auto additions = double(before + 1 - own.sums.node_count());
  close(member, kReduceSection, additions * add_cost(stage_.count, 1, sizeof(T)));
}

/// The same for slots without samples.
template <class T>
void Engine<T>::push_nothing(const Member& member, std::int64_t slot, std::int64_t run) {
  std::fill_n(seat(member).sums.next(), stage_.count, T(0));
  std::fill_n(scores_.loss.begin() + slot, run, 0.0);
  std::fill_n(scores_.correct.begin() + slot, run, 0);
  push(member, slot, run);
}

/// First half of a step: the gradients of this member's slots, chunk by chunk, depth first.
template <class T>
void Engine<T>::run_slots(const Member& member, const Batch& batch) {
  Seat& own = seat(member);
  const std::vector<std::int64_t> bounds = cut_into_slots(static_cast<std::int64_t>(batch.ids.size()), slots_);
  own.sums.clear();
  const std::int64_t own_slots = tree_->last_slot() - tree_->first_slot();
  const std::int64_t first = tree_->first_slot() + member.share(own_slots, member.index);
  const std::int64_t last = tree_->first_slot() + member.share(own_slots, member.index + 1);
  own.next_slice = 0;
  own.announced = false;
  own.slice_seconds = 0;
  if (staged())
    run_pipeline(member, batch, bounds, first, last);
  else
    run_chunks(member, batch, bounds, first, last);
  arrive(member, 0);
  own.times.reduce += own.slice_seconds;
}

/// The chunks one after the other. While the last of them runs backward, its sums are taken up.
template <class T>
void Engine<T>::run_chunks(const Member& member, const Batch& batch, std::span<const std::int64_t> bounds,
                           std::int64_t first, std::int64_t last) {
  Seat& own = seat(member);
  SliceWatch watch(*this, member);
  std::vector<std::int64_t> columns;
  for (std::int64_t slot = first, run = 0; slot < last; slot += run) {
    run = aligned_run(slot, last, slots_per_chunk_);
    const auto begin = bounds.begin() + slot;
    columns.assign(begin, begin + run + 1);
    for (std::int64_t& column : columns) column -= *begin;
    if (columns.back() == 0) {
      push_nothing(member, slot, run);
      continue;
    }
    typename Worker<T>::Chunk chunk = chunk_of(member, batch, *begin, columns);
    if (keeps_inputs_) chunk.kept = &own.kept[static_cast<std::size_t>(slot)];
    chunk.gradients = own.sums.next();
    if (slices_ == nullptr || slot + run < last) {
      own.worker.run(chunk, scores_, static_cast<std::size_t>(slot), own.times);
      push(member, slot, run);
      continue;
    }
    own.sums.announce(std::countr_zero(static_cast<std::uint64_t>(run)), slot / run);
    own.announced = true;
    chunk.watch = &watch;
    own.worker.run(chunk, scores_, static_cast<std::size_t>(slot), own.times);
    own.times.backward -= own.slice_seconds;
  }
}

/// This member's sums are written from element `first` on: slices that lie behind it can go to the other ranks.
template <class T>
void Engine<T>::arrive(const Member& member, std::int64_t first) {
  if (slices_ == nullptr) return;
  Seat& own = seat(member);
  Lap lap;
  Cost cost;
  const std::int64_t added = tree_->additions();
  for (; own.next_slice < slices_->count() && slices_->first(own.next_slice) >= first; ++own.next_slice) {
    const std::int64_t from = slices_->first(own.next_slice), size = slices_->last(own.next_slice) - from;
    if (own.announced) {
      own.sums.add_announced(from, size, kernels_, own.worker.context());
      cost = cost + double(own.sums.announced_additions()) * add_cost(size, 1, sizeof(T));
    }
    slices_->arrive(
        own.next_slice, [this] { return subtrees(); }, kernels_, own.worker.context());
  }
  lap(own.slice_seconds);
  close(member, kReduceSection, cost + add_cost(tree_->additions() - added, 1, sizeof(T)));
}

/// The same for one stage of several: each slot is a chunk, and several are in flight.
template <class T>
void Engine<T>::run_pipeline(const Member& member, const Batch& batch, std::span<const std::int64_t> bounds,
                             std::int64_t first, std::int64_t last) {
  Seat& own = seat(member);
  std::vector<typename Pipeline<T>::Task> tasks;
  std::vector<std::array<std::int64_t, 2>> columns(static_cast<std::size_t>(last - first));
  for (std::int64_t slot = first; slot < last; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (bounds[at] == bounds[at + 1]) continue;
    auto& cut = columns[at - static_cast<std::size_t>(first)] = {0, bounds[at + 1] - bounds[at]};
    tasks.push_back({chunk_of(member, batch, bounds[at], cut), at});
    if (keeps_inputs_) tasks.back().chunk.kept = &own.kept[at];
  }
  std::int64_t next = first;  // the slot whose sums are pushed next
  own.pipeline->train(tasks, scores_, own.times, [&](std::size_t task, AlignedBuffer<T>& gradients) {
    const auto slot = static_cast<std::int64_t>(tasks[task].first_slot);
    while (next < slot) push_nothing(member, next++, 1);
    std::swap(own.sums.next_buffer(), gradients);
    push(member, next++, 1);
  });
  while (next < last) push_nothing(member, next++, 1);
}

template <class T>
std::int64_t Engine<T>::node_count() const {
  std::int64_t count = 0;
  for (const auto& each : seats_) count += each->sums.node_count();
  return count;
}

/// What the members have summed up, left to right.
template <class T>
std::vector<Subtree<T>> Engine<T>::subtrees() {
  std::vector<Subtree<T>> nodes;
  for (const auto& each : seats_)
    for (SlotNode<T>& node : each->sums.nodes()) nodes.push_back({node.sum.data(), node.level, node.index});
  return nodes;
}

template void Engine<float>::run_slots(const Member&, const Batch&);
template void Engine<double>::run_slots(const Member&, const Batch&);
template std::int64_t Engine<float>::node_count() const;
template std::int64_t Engine<double>::node_count() const;
template std::vector<Subtree<float>> Engine<float>::subtrees();
template std::vector<Subtree<double>> Engine<double>::subtrees();

}  // namespace lockstep
