// A step of a thread, from top to bottom.

#include "lockstep/train/thread_step.hpp"

#include <algorithm>
#include <cmath>

#include "lockstep/lab/lap.hpp"

namespace lockstep {

template <class T>
ThreadStep<T>::ThreadStep(TeamState<T>& team, int index)
    : team_(team),
      group_(team.setup.grid.is_split() ? std::make_unique<TensorGroup>(team.setup.grid.members_of_thread(index))
                                        : nullptr),
      worker_(team.body, team.setup.stage, team.setup.options.loss_options(), team.kernels, group_.get()),
      sums_(team.setup.stage.count) {
  const auto pipeline = [&](Worker<T>& worker, const Stage& stage) {
    if (!team.setup.grid.is_staged()) return std::unique_ptr<Pipeline<T>>();
    return std::make_unique<Pipeline<T>>(worker, team.setup.grid.pipeline_of_thread(index),
                                         team.setup.options.parallel.schedule, stage);
  };
  pipeline_ = pipeline(worker_, team.setup.stage);
  if (!team.whole_body) return;
  const Stage& stage = team.setup.scored_stage();
  scorer_.emplace(*team.whole_body, stage, team.setup.options.loss_options(), team.kernels, group_.get());
  scoring_pipeline_ = pipeline(*scorer_, stage);
}

template <class T>
void ThreadStep<T>::prepare() {
  overlap_.reset();
  if (team_.overlap != nullptr) overlap_.emplace(*team_.overlap, sums_, context());
}

template <class T>
void ThreadStep<T>::keep_inputs(std::int64_t slots) {
  kept_.clear();
  kept_.resize(static_cast<std::size_t>(slots));
}

template <class T>
void ThreadStep<T>::release() {
  keep_inputs(0);
  worker_.release();
  if (scorer_) scorer_->release();
  sums_.release();
  again_ = {};
}

template <class T>
StepResult ThreadStep<T>::train_batch(const Member& member, const Batch& batch) {
  run_slots(member, batch);
  meet(member, batch);
  const StepResult result = reduce_and_update(member, batch);
  if (member.index == 0) team_.carried.finish(batch);
  meet(member, batch);
  if (team_.setup.ranks.size() > 1) {
    if (member.index == 0) broadcast(member, batch);
    meet(member, batch);
  }
  return result;
}

template <class T>
void ThreadStep<T>::meet(const Member& member, const Batch& batch) {
  Lap lap;
  member.barrier.wait();
  lap(times_.wait);
  batch.close(member.index, kWaitSection);
}

// The first half: the gradients of this thread's slots, chunk by chunk, depth first, and their sums.

template <class T>
void ThreadStep<T>::run_slots(const Member& member, const Batch& batch) {
  const RankTree<T>& tree = *team_.tree;
  const std::int64_t slots = tree.last_slot() - tree.first_slot();
  cut_into_chunks(batch.ids, team_.slots, tree.first_slot() + member.share(slots, member.index),
                  tree.first_slot() + member.share(slots, member.index + 1),
                  pipeline_ != nullptr ? 1 : team_.slots_per_chunk, chunks_);
  sums_.clear();
  if (overlap_) overlap_->begin(batch.recorder(member.index));
  if (pipeline_ != nullptr)
    run_pipeline(member, batch);
  else if (team_.batch_sums)
    run_whole(member, batch);
  else if (team_.setup.guard && is_guarded(member, batch))
    run_checked(member, batch);
  else
    run_chunks(member, batch);
  if (!overlap_) return;
  overlap_->complete_from(0);
  times_.reduce += overlap_->seconds();
}

/// The sums of the last chunk leave for the other ranks while its backward runs.
template <class T>
void ThreadStep<T>::run_chunks(const Member& member, const Batch& batch) {
  for (const SlotChunk& chunk : chunks_) {
    if (chunk.ids.empty()) {
      push(member, batch, chunk);
      continue;
    }
    typename Worker<T>::Chunk task = task_of(member, batch, chunk);
    task.gradients = sums_.next();
    if (overlap_ && &chunk == &chunks_.back()) {
      overlap_->announce(chunk.node());
      task.watch = &*overlap_;
      worker_.run(task, team_.scores, times_);
      times_.backward -= overlap_->seconds();
    } else {
      worker_.run(task, team_.scores, times_);
      push(member, batch, chunk);
    }
  }
}

/// Where layers need sums over the batch: all slots of this thread are one chunk, and threads and ranks meet in the
/// middle of it. The channel of the ranks is used for that, so no gradient leaves before the end.
template <class T>
void ThreadStep<T>::run_whole(const Member& member, const Batch& batch) {
  batch_sum_.begin(*team_.batch_sums, member, batch.size());
  if (chunks_.empty() || chunks_.front().ids.empty())
    batch_sum_.skip(kBatchSumsPerLayer * batch_wide_layers(team_.setup.stage.plans));
  for (const SlotChunk& chunk : chunks_) {  // one, or none on a rank without slots
    if (!chunk.ids.empty()) {
      typename Worker<T>::Chunk task = task_of(member, batch, chunk);
      task.gradients = sums_.next();
      task.batch = &batch_sum_;
      worker_.run(task, team_.scores, times_);
    }
    push(member, batch, chunk);
  }
}

/// In one stage of several each slot is a chunk, and several are between forward and backward.
template <class T>
void ThreadStep<T>::run_pipeline(const Member& member, const Batch& batch) {
  std::vector<typename Worker<T>::Chunk> tasks;
  std::vector<const SlotChunk*> filled;
  for (const SlotChunk& chunk : chunks_) {
    if (chunk.ids.empty()) continue;
    tasks.push_back(task_of(member, batch, chunk));
    filled.push_back(&chunk);
  }
  const SlotChunk* next = chunks_.data();  // whose sums are pushed next
  const auto push_before = [&](const SlotChunk* end) {
    for (; next < end; ++next) push(member, batch, *next);
  };
  pipeline_->train(tasks, team_.scores, times_, [&](std::size_t task, AlignedBuffer<T>& gradients) {
    push_before(filled[task]);
    std::swap(sums_.next_buffer(), gradients);
    push(member, batch, *next++);
  });
  push_before(chunks_.data() + chunks_.size());
}

/// Where the gradients go is to be set.
template <class T>
typename Worker<T>::Chunk ThreadStep<T>::task_of(const Member& member, const Batch& batch, const SlotChunk& chunk) {
  const TrainOptions& options = team_.setup.options;
  const std::int64_t first = chunk.ids.data() - batch.ids.data(), count = std::ssize(chunk.ids);
  return {.data = batch.data,
          .ids = chunk.ids,
          .weights = batch.weights,
          .slots = {chunk.bounds},
          .first_slot = static_cast<std::size_t>(chunk.first),
          .kept = kept_.empty() ? nullptr : &kept_[static_cast<std::size_t>(chunk.first)],
          .parameters = team_.shard.weights(),
          .weight_columns = team_.shard.weight_columns(),
          .scale = loss_scale<T>(options.reduction, batch),
          .seed = options.seed,
          .epoch = static_cast<std::uint32_t>(batch.epoch),
          .recorder = batch.recorder(member.index),
          .state_before = team_.carried.before(batch, first, count),
          .state_after = team_.carried.after(batch, first, count)};
}

/// The sums of this chunk are written to sums_.next(); those of a chunk without samples are 0.
template <class T>
void ThreadStep<T>::push(const Member& member, const Batch& batch, const SlotChunk& chunk) {
  if (chunk.ids.empty()) {
    std::fill_n(sums_.next(), team_.setup.stage.count, T(0));
    clear_scores(chunk, team_.scores);
  }
  Lap lap;
  const auto additions = double(sums_.push(chunk.node(), team_.kernels, context()));
  lap(times_.reduce);
  batch.close(member.index, kReduceSection, additions * add_cost(team_.setup.stage.count, 1, sizeof(T)));
}

// The second half: this thread's stretch of the parameter vector, in whole blocks of kSquareBlock elements.

template <class T>
StepResult ThreadStep<T>::reduce_and_update(const Member& member, const Batch& batch) {
  StepResult result;
  const Stretch own = stretch_of(member);
  T* const gradient = reduce(member, batch, own, result.requests);
  if (member.index == 0) result.scores = sum_of(team_.scores);
  update(member, batch, own, gradient);
  return result;
}

template <class T>
typename ThreadStep<T>::Stretch ThreadStep<T>::stretch_of(const Member& member) const {
  const RankTree<T>& tree = *team_.tree;
  const std::int64_t blocks = tree.last_block() - tree.first_block(), trainable = team_.setup.stage.trainable;
  const std::int64_t first = tree.first_block() + member.share(blocks, member.index);
  const std::int64_t last = tree.first_block() + member.share(blocks, member.index + 1);
  return {std::min(trainable, first * kSquareBlock), std::min(trainable, last * kSquareBlock), first};
}

/// The gradient summed over all slots, valid in this thread's stretch and, for member 0 of the rank that owns it, in
/// the running statistics at the end of the vector. `requests` of all ranks are known to member 0.
template <class T>
T* ThreadStep<T>::reduce(const Member& member, const Batch& batch, const Stretch& own, StepRequests& requests) {
  if (overlap_) return exchange(member, batch, requests);
  Lap lap;
  const std::int64_t trainable = team_.setup.stage.trainable, all = team_.setup.stage.count;
  const std::vector<Subtree<T>> nodes = subtrees_of<T>(team_.sums);
  T* const gradient = add_up<T>(nodes, own.first, own.count(), team_.kernels, context()).front().sum;
  if (member.index == 0) {
    add_up<T>(nodes, trainable, all - trainable, team_.kernels, context());
    requests = batch.requests();
  }
  lap(times_.reduce);
  batch.close(member.index, kReduceSection, double(nodes.size() - 1) * add_cost(own.count(), 1, sizeof(T)));
  if (member.index == 0 && team_.setup.ranks.size() > 1) {  // the ranks with the last stage have the scores
    team_.setup.grid.send_scores(team_.scores, requests);
    requests = team_.setup.grid.receive_scores(team_.scores);
    lap(times_.exchange);
    batch.close(member.index, kExchangeSection);
  }
  return gradient;
}

/// The same where other ranks hold the same part: the sums are on their way.
template <class T>
T* ThreadStep<T>::exchange(const Member& member, const Batch& batch, StepRequests& requests) {
  if (member.index == 0) {
    Lap lap;
    team_.setup.grid.send_scores(team_.scores, batch.requests());
    const std::int64_t added = team_.tree->additions();
    team_.gradient = team_.overlap->finish(context());
    requests = team_.setup.grid.receive_scores(team_.scores);
    lap(times_.exchange);
    batch.close(member.index, kExchangeSection, add_cost(team_.tree->additions() - added, 1, sizeof(T)));
  }
  meet(member, batch);
  return team_.gradient;
}

template <class T>
void ThreadStep<T>::update(const Member& member, const Batch& batch, const Stretch& own, T* gradient) {
  Lap lap;
  const TrainOptions& options = team_.setup.options;
  T* const weights = team_.shard.weights();
  Update<T>& optimizer = team_.shard.update();
  if (member.index == 0 && team_.tree->owns_the_end()) {
    if (team_.state_sums) team_.state_sums->check_statistics(batch.step);
    team_.body.update_statistics(team_.kernels, context(), weights, gradient, batch.size());
    if (team_.state_sums) team_.state_sums->note_statistics();
  }
  optimizer.clear_frozen(gradient, own.first, own.last, context());
  optimizer.add_l2(options.l2, weights, gradient, own.first, own.last, team_.kernels, context());
  if (options.clip_norm > 0) clip(member, batch, own, gradient);
  if (team_.state_sums)
    guarded_update(member, batch, own, gradient);
  else
    optimizer.step(batch.rate, batch.step, weights, gradient, own.first, own.last, team_.kernels, context());
  lap(times_.update);
  batch.close(member.index, kUpdateSection, optimizer_cost(own.count(), state_vectors(options.optimizer), sizeof(T)));
}

template <class T>
void ThreadStep<T>::clip(const Member& member, const Batch& batch, const Stretch& own, T* gradient) {
  const bool sharded = team_.setup.grid.is_sharded();
  if (!sharded)
    team_.kernels.square_sums(
        {.count = own.count(), .x = gradient + own.first, .partial = team_.squares.data() + own.first_block},
        context());
  batch.close(member.index, kUpdateSection);
  meet(member, batch);
  if (team_.setup.ranks.size() > 1) {
    if (member.index == 0 && sharded)
      team_.norm = team_.shard.norm_over_parts(gradient, *team_.tree, team_.kernels, context());
    else if (member.index == 0)
      team_.tree->gather_blocks(team_.squares.data());
    meet(member, batch);
  }
  const double norm = sharded ? team_.norm : std::sqrt(block_tree(team_.squares));
  clip_gradient(norm, team_.setup.options.clip_norm, gradient + own.first, own.count(), team_.kernels, context());
}

/// The new weights to all ranks, by member 0.
template <class T>
void ThreadStep<T>::broadcast(const Member& member, const Batch& batch) {
  Lap lap;
  const bool statistics = !team_.tree->owns_the_end();
  if (team_.state_sums) team_.state_sums->check_foreign(statistics, batch.step);
  team_.tree->gather(team_.shard.weights());
  if (team_.state_sums) team_.state_sums->note_foreign(statistics);
  times_.sent_bytes += team_.shard.exchange_columns();
  team_.setup.ranks.note_step(batch.step + 1);
  lap(times_.broadcast);
  batch.close(member.index, kExchangeSection);
}

template <class T>
Cost ThreadStep<T>::score(const Member& member, const Dataset& data, SlotScores& blocks) {
  const BlockRange own = own_blocks(team_.setup.grid, member, data);
  typename Worker<T>::Chunk task{
      .data = data, .parameters = team_.shard.weights(), .samples_at_once = team_.samples_scored_at_once};
  std::vector<std::int64_t> ids;
  PhaseTimes ignored;
  std::int64_t samples = 0;
  for (std::int64_t block = own.first; block < own.last; ++block) {
    list_samples({block, block + 1}, data, ids);
    const std::int64_t bounds[] = {0, static_cast<std::int64_t>(ids.size())};
    task.ids = ids;
    task.slots = {bounds};
    task.first_slot = static_cast<std::size_t>(block);
    if (pipeline_ != nullptr)
      (scorer_ ? *scoring_pipeline_ : *pipeline_).infer(task, blocks, ignored);
    else
      (scorer_ ? *scorer_ : worker_).run(task, blocks, ignored);
    samples += bounds[1];
  }
  return team_.scored_body().forward_cost(samples);
}

template class ThreadStep<float>;
template class ThreadStep<double>;

}  // namespace lockstep
