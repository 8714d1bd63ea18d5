// A step of which some chunks are computed twice (guard.hpp), and the update of weights whose sums are watched.

#include <algorithm>
#include <cstring>

#include "lockstep/core/error.hpp"
#include "lockstep/train/thread_step.hpp"

namespace lockstep {

namespace {

/// Weights and optimiser state that are checked, updated and noted while they are in cache.
constexpr std::int64_t kGuardedElements = 16 * kSquareBlock;

template <class T>
std::int64_t first_other(const T* a, const T* b, std::int64_t count) {
  if (std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0) return -1;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::memcmp(a + i, b + i, sizeof(T)) != 0) return i;
  return -1;
}

}  // namespace

/// Whether chunks of this step are computed twice, or a test may plant a fault in one. The same for all threads.
template <class T>
bool ThreadStep<T>::is_guarded(const Member& member, const Batch& batch) const {
  if (team_.setup.guard->planted().any()) return true;
  const std::int64_t most = most_chunks(member);
  for (std::int64_t k = 0; k < most; ++k)
    if (team_.setup.guard->draws(batch.step, k)) return true;
  return false;
}

/// An upper limit of the chunks of each thread: as many as have slots.
template <class T>
std::int64_t ThreadStep<T>::most_chunks(const Member& member) const {
  const std::int64_t slots = team_.tree->last_slot() - team_.tree->first_slot();
  return (slots + member.size - 1) / member.size;
}

/// The same as run_chunks. Nothing leaves for other ranks before all is checked, so the step can be repeated here
/// alone.
template <class T>
void ThreadStep<T>::run_checked(const Member& member, const Batch& batch) {
  Guard& guard = *team_.setup.guard;
  for (int attempt = 0; !try_chunks(member, batch, attempt); ++attempt) {
    if (attempt + 1 == Guard::kAttempts) guard.give_up(batch.step);
    guard.leave_cores(left_cores_);
  }
}

template <class T>
bool ThreadStep<T>::try_chunks(const Member& member, const Batch& batch, int attempt) {
  const Guard& guard = *team_.setup.guard;
  const std::int64_t before = guard.differences();
  sums_.clear();
  if (overlap_) overlap_->begin(batch.recorder(member.index));
  for (std::size_t k = 0; k < static_cast<std::size_t>(most_chunks(member)); ++k) {
    const SlotChunk* const own = k < chunks_.size() ? &chunks_[k] : nullptr;
    if (own != nullptr && !own->ids.empty()) {
      typename Worker<T>::Chunk task = task_of(member, batch, *own);
      task.gradients = sums_.next();
      run_task(task, team_.scores, attempt == 0 && has_first_sample(batch, *own) ? batch.step + 1 : 0);
      computed_ = {task.gradients, current_core()};
    }
    if (attempt > 0 || guard.draws(batch.step, static_cast<std::int64_t>(k))) {
      member.barrier.wait();  // all have chunk k
      recheck(member, batch, k);
      member.barrier.wait();
      if (guard.differences() != before) return false;
    }
    if (own == nullptr) continue;
    if (overlap_ && own == &chunks_.back() && !own->ids.empty())
      overlap_->announce(own->node());
    else
      push(member, batch, *own);
  }
  return true;
}

/// Where a fault is planted: the chunk of this rank's first sample. Thread 0 has none where there are fewer slots than
/// threads.
template <class T>
bool ThreadStep<T>::has_first_sample(const Batch& batch, const SlotChunk& chunk) const {
  if (!team_.setup.guard->planted().any()) return false;
  const auto bounds = cut_into_slots(std::ssize(batch.ids), team_.slots);
  return chunk.ids.data() == batch.ids.data() + bounds[static_cast<std::size_t>(team_.tree->first_slot())];
}

/// Worker::run, with the faults that a test plants; `plant`: the step in which one may be planted here; 0: none.
template <class T>
void ThreadStep<T>::run_task(const typename Worker<T>::Chunk& task, SlotScores& scores, std::int64_t plant) {
  const PlantedFault& fault = team_.setup.guard->planted();
  const auto is_planted = [&](const char* kind) {
    return fault.any() && ((plant > 0 && fault.is_due(kind, plant)) || fault.is_on_this_core(kind));
  };
  if (is_planted("activation")) {
    ChunkBuffers<T> buffers;
    worker_.reserve(task, buffers);
    worker_.load(task, buffers, times_);
    worker_.forward(task, buffers, times_);
    flip_bit(const_cast<T&>(buffers.y(0, 0)));
    const Matrix<T> dz = worker_.score(task, buffers, scores, times_);
    worker_.backward(task, buffers, dz, {}, {}, times_);
    return;
  }
  worker_.run(task, scores, times_);
  if (is_planted("gradient")) flip_bit(task.gradients[team_.setup.stage.trainable / 2]);
  if (is_planted("score")) flip_bit(scores.loss[task.first_slot]);
}

/// Chunk k of the next thread, on another core than the one that computed it.
template <class T>
void ThreadStep<T>::recheck(const Member& member, const Batch& batch, std::size_t k) {
  const ThreadStep& other = *team_.threads[static_cast<std::size_t>((member.index + 1) % member.size)];
  if (k >= other.chunks_.size() || other.chunks_[k].ids.empty()) return;
  const SlotChunk& chunk = other.chunks_[k];
  const AwayFromCore away(other.computed_.core, team_.setup.guard->left_out());
  typename Worker<T>::Chunk task = task_of(member, batch, chunk);
  task.kept = nullptr;  // the samples are read again too
  task.recorder = nullptr;
  const std::int64_t count = team_.setup.stage.count;
  if (again_.gradients.size() == 0) again_.gradients = slot_vector<T>(count);
  again_.scores.loss.resize(team_.scores.loss.size());
  again_.scores.correct.resize(team_.scores.correct.size());
  task.gradients = again_.gradients.data();
  run_task(task, again_.scores, 0);
  team_.setup.guard->note_rechecked();
  ChunkDifference found{
      .step = batch.step, .slot = chunk.first, .first_core = other.computed_.core, .second_core = current_core()};
  if (is_same(chunk, other.computed_.gradients, team_.scores, again_, &found)) return;
  // The definition decides: plain loops, on this core or any other.
  Again plain{slot_vector<T>(count), again_.scores};
  const KernelTable<T> naive = make_table<T>(Backend::naive);
  Worker<T> worker(team_.body, team_.setup.stage, team_.setup.options.loss_options(), naive, nullptr);
  task.gradients = plain.gradients.data();
  worker.run(task, plain.scores, times_);
  if (is_same(chunk, other.computed_.gradients, team_.scores, plain, nullptr)) found.right = 0;
  if (is_same(chunk, again_.gradients.data(), again_.scores, plain, nullptr)) found.right = 1;
  team_.setup.guard->note_difference(found);
}

/// Gradients and scores of a chunk, bit by bit; `found` may be null.
template <class T>
bool ThreadStep<T>::is_same(const SlotChunk& chunk, const T* gradients, const SlotScores& scores, const Again& again,
                            ChunkDifference* found) const {
  const std::int64_t at = first_other(gradients, again.gradients.data(), team_.setup.stage.count);
  const auto differs = [&](const std::string& what, double first, double second) {
    if (found != nullptr) found->what = what, found->first = first, found->second = second;
    return false;
  };
  if (at >= 0)
    return differs("the gradient of " + element_name(team_.setup.stage.parameters, at), double(gradients[at]),
                   double(again.gradients[at]));
  for (auto slot = static_cast<std::size_t>(chunk.first); slot < static_cast<std::size_t>(chunk.first + chunk.count());
       ++slot) {
    if (first_other(&scores.loss[slot], &again.scores.loss[slot], 1) >= 0)
      return differs("the loss", scores.loss[slot], again.scores.loss[slot]);
    if (scores.correct[slot] != again.scores.correct[slot])
      return differs("the number of right answers", double(scores.correct[slot]), double(again.scores.correct[slot]));
  }
  return true;
}

/// The optimiser's step over this thread's stretch: what it reads must be what the step before wrote.
template <class T>
void ThreadStep<T>::guarded_update(const Member& member, const Batch& batch, const Stretch& own, T* gradient) {
  Shard<T>& shard = team_.shard;
  const PlantedFault& fault = team_.setup.guard->planted();
  if (member.index == 0) team_.last_step = batch.step + 1;
  if (own.first_block == team_.tree->first_block() && own.count() > 0) {
    if (fault.is_due("weight", batch.step + 1)) flip_bit(shard.weights()[own.first]);
    if (fault.is_due("state", batch.step + 1) && shard.update().first_data() != nullptr)
      flip_bit(shard.update().first_data()[own.first]);
  }
  for (std::int64_t at = own.first; at < own.last; at += kGuardedElements) {
    const std::int64_t end = std::min(own.last, at + kGuardedElements);
    team_.state_sums->check(at, end, batch.step);
    shard.update().step(batch.rate, batch.step, shard.weights(), gradient, at, end, team_.kernels, context());
    team_.state_sums->note(at, end);
  }
}

// What thread_step.cpp, which has the rest of the class, calls.
template bool ThreadStep<float>::is_guarded(const Member&, const Batch&) const;
template bool ThreadStep<double>::is_guarded(const Member&, const Batch&) const;
template void ThreadStep<float>::run_checked(const Member&, const Batch&);
template void ThreadStep<double>::run_checked(const Member&, const Batch&);
template void ThreadStep<float>::guarded_update(const Member&, const Batch&, const Stretch&, float*);
template void ThreadStep<double>::guarded_update(const Member&, const Batch&, const Stretch&, double*);

}  // namespace lockstep
