#include "lockstep/train/thread_executor.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/train/progress.hpp"

namespace lockstep {

namespace {

/// The inputs of a small data set that is trained in one batch, in one order, are gathered once. Larger ones would only
/// be a second copy of the data.
constexpr std::int64_t kKeptBytes = 64 * 1024 * 1024;

/// A slice of the gradient that is worth a message of its own while backward still runs.
constexpr std::int64_t kSliceBytes = 32 * 1024;

/// What a step costs besides its work when threads share it, in seconds: barriers, and fetching from another core what
/// that core has written; and what an evaluation costs, for which threads may have to be woken. Estimates, not
/// measured.
constexpr double kMeeting = 5e-6, kWaking = 100e-6;

}  // namespace

template <class T>
ThreadExecutor<T>::ThreadExecutor(TrainingSetup& setup) : team_(setup) {
  const int threads = setup.options.threads > 0 ? setup.options.threads : default_threads();
  for (int i = 0; i < threads; ++i) threads_.push_back(std::make_unique<ThreadStep<T>>(team_, i));
  constexpr std::int64_t kParts = kScoreBlock / kLanes;
  team_.samples_scored_at_once = kLanes * slots_per_chunk(kScoreBlock, kParts, chunk_needs(team_.scored_body()));
}

template <class T>
ChunkNeeds ThreadExecutor<T>::chunk_needs(const Sequence<T>& body) const {
  const TrainingSetup& setup = team_.setup;
  // All members of a tensor group need the same chunks.
  const std::int64_t held = setup.grid.is_split() ? setup.network.parameter_count() : setup.stage.count;
  return {body.activation_elements(), held, sizeof(T)};
}

/// All threads, where thread k of one rank talks to thread k of another.
template <class T>
int ThreadExecutor<T>::worth_sharing(std::int64_t parts, const Cost& cost, double meeting) const {
  const TrainingSetup& setup = team_.setup;
  if (setup.grid.is_sharded() || environment_text("LOCKSTEP_STEP_THREADS") == "all") return members();
  return threads_worth_sharing(members(), parts, setup.options.backend == Backend::simd ? cost : kMuchWork, meeting);
}

template <class T>
int ThreadExecutor<T>::step_members_for(const Dataset& data) const {
  const TrainingSetup& setup = team_.setup;
  const Ranks& replicas = team_.setup.grid.replicas();
  const std::int64_t all = setup.slots_for(data);
  const std::int64_t slots = replicas.share(all, replicas.rank() + 1) - replicas.share(all, replicas.rank());
  const std::int64_t samples = setup.batch_for(data) * slots / all;
  const int members =
      worth_sharing(slots,
                    team_.body.forward_cost(samples) + team_.body.backward_cost(samples, false) +
                        optimizer_cost(setup.stage.trainable, state_vectors(setup.options.optimizer), sizeof(T)),
                    kMeeting);
  if (!setup.needs_whole_batch()) return members;
  // An aligned power of two of the slots for each.
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(slots, 1, members))));
}

template <class T>
int ThreadExecutor<T>::score_members(const Dataset& data) const {
  return worth_sharing(block_count(data), team_.scored_body().forward_cost(data.size()), kWaking);
}

template <class T>
void ThreadExecutor<T>::prepare(const Dataset& data) {
  const TrainingSetup& setup = team_.setup;
  const Stage& stage = setup.stage;
  RankGrid& grid = team_.setup.grid;
  team_.slots = setup.slots_for(data);
  team_.slots_per_chunk = slots_per_chunk(setup.batch_for(data), team_.slots, chunk_needs(team_.body));
  team_.carried.prepare(setup.state_rows, setup.batch_for(data));
  team_.scores.loss.resize(static_cast<std::size_t>(team_.slots));
  team_.scores.correct.resize(static_cast<std::size_t>(team_.slots));
  team_.squares.resize(static_cast<std::size_t>((stage.trainable + kSquareBlock - 1) / kSquareBlock));
  team_.overlap.reset();
  team_.tree.emplace(grid.replicas(), team_.slots, StretchLayout{stage.count, stage.trainable, kSquareBlock},
                     setup.options.parallel.reduce);
  tree_bytes_ = 0;
  team_.sums.clear();
  team_.threads.clear();
  for (int i = 0; i < step_members_for(data); ++i) {
    team_.sums.push_back(&threads_[static_cast<std::size_t>(i)]->sums());
    team_.threads.push_back(threads_[static_cast<std::size_t>(i)].get());
  }
  team_.batch_sums.reset();
  if (setup.needs_whole_batch()) {
    team_.batch_sums.emplace(grid.replicas(), team_.slots, step_members());
    team_.slots_per_chunk = team_.slots;
  }
  if (grid.replicas().size() > 1) {
    std::vector<std::int64_t> boundaries;
    for (const LayerPlan& plan : stage.plans)
      if (const std::int64_t first = first_parameter(plan); first >= 0) boundaries.push_back(first);
    team_.overlap = std::make_unique<OverlappedReduction<T>>(
        *team_.tree, slices_of(boundaries, stage.count, kSliceBytes / static_cast<std::int64_t>(sizeof(T))),
        stage.count, team_.sums, team_.kernels);
  }
  for (const auto& each : threads_) {
    each->prepare();
    each->keep_inputs(0);  // only a fit sees a batch again
  }
  if (team_.state_sums)
    team_.state_sums->begin(std::min(stage.trainable, team_.tree->first_block() * kSquareBlock),
                            std::min(stage.trainable, team_.tree->last_block() * kSquareBlock));
  if (!grid.is_sharded()) return;
  require_equal_threads();
  threads_[0]->times().sent_bytes += team_.shard.exchange_columns();
}

/// Thread k of one rank talks to thread k of another, where ranks hold parts of the network.
template <class T>
void ThreadExecutor<T>::require_equal_threads() {
  const std::vector<std::string> threads = team_.setup.ranks.all_gather(std::to_string(members()), "beginning");
  for (std::size_t rank = 1; rank < threads.size(); ++rank)
    if (threads[rank] != threads[0])
      throw Error(ErrorCode::usage, fmt::format("rank {} has {} threads and rank 0 has {}: with parallel.pipeline or "
                                                "tensor all need the same number; set the number of threads",
                                                rank, threads[rank], threads[0]));
}

template <class T>
void ThreadExecutor<T>::begin_fit(const Dataset& data, Profile* /*profile*/) {
  const std::int64_t bytes = data.size() * data.features() * static_cast<std::int64_t>(sizeof(T));
  const bool keeps = team_.setup.repeats_one_batch(data) && bytes <= kKeptBytes;
  for (const auto& each : threads_) each->keep_inputs(keeps ? team_.slots : 0);
}

/// What follows a fit, an evaluation or the writing of files, needs less memory than the steps did.
template <class T>
void ThreadExecutor<T>::end_fit(bool /*complete*/) {
  for (const auto& each : threads_) each->release();
}

template <class T>
std::vector<double> ThreadExecutor<T>::gradient(const Batch& batch) {
  T* total = nullptr;
  KernelContext& context = threads_[0]->context();
  run_team(step_members(), [&](const Member& member) {
    thread(member).run_slots(member, batch);
    member.barrier.wait();
    if (member.index != 0) return;
    total = team_.overlap != nullptr
                ? team_.overlap->finish(context)
                : add_up<T>(subtrees_of<T>(team_.sums), 0, team_.setup.stage.count, team_.kernels, context).front().sum;
    team_.tree->gather(total);
  });
  Shard<T>& shard = team_.shard;
  shard.update().add_l2(team_.setup.options.l2, shard.weights(), total, 0, team_.setup.stage.trainable, team_.kernels,
                        context);
  return shard.collect_whole(total);
}

template <class T>
bool ThreadExecutor<T>::collect(Collect what) {
  if (team_.state_sums) check_state(what);
  switch (what) {
    case Collect::weights:
      team_.shard.collect_weights();
      break;
    case Collect::state:
      team_.shard.collect_state(*team_.tree);
      carried_ = {};
      if (const CarriedState<T>& own = team_.carried; own.window() > 0)
        carried_ = collect_carried(team_.setup, own.next().data(), own.stride(), own.samples(), team_.slots);
      break;
  }
  return team_.shard.is_finite();
}

template <class T>
void ThreadExecutor<T>::resume_window(std::int64_t window, std::int64_t samples) {
  CarriedState<T>& own = team_.carried;
  if (own.window() == window && own.samples() == samples) return;
  const AlignedBuffer<T> wide = spread_carried(carried_, team_.setup.state_rows, samples, own.stride());
  std::copy_n(wide.data(), wide.size(), own.resume(window, samples));
}

template <class T>
void ThreadExecutor<T>::save(TrainingState& state) const {
  team_.shard.save(state);
  state.carried = carried_;
}

template <class T>
void ThreadExecutor<T>::restore(const TrainingState& state) {
  AlignedBuffer<T> carried = carried_of<T>(state);
  team_.shard.restore(state);
  carried_ = std::move(carried);
  team_.carried.resume(0, 0);
}

/// Only what the last step wrote is reported, saved or sent.
template <class T>
void ThreadExecutor<T>::check_state(Collect what) {
  if (what == Collect::state && team_.setup.guard->planted().is_due("save", ++saved_))
    flip_bit(team_.shard.weights()[0]);
  team_.state_sums->check_all(team_.last_step);
}

template <class T>
void ThreadExecutor<T>::average(double share) {
  if (team_.state_sums) team_.state_sums->check_average(team_.last_step);
  team_.shard.average().take(share, team_.shard.weights(), team_.kernels, threads_[0]->context());
  if (team_.state_sums) team_.state_sums->note_average();
}

template <class T>
void ThreadExecutor<T>::swap_average() {
  if (team_.state_sums) team_.state_sums->check_all(team_.last_step);
  threads_[0]->times().sent_bytes += team_.shard.swap_average();
  if (team_.state_sums) team_.state_sums->note_all();
}

template <class T>
double ThreadExecutor<T>::penalty() {
  const TrainingSetup& setup = team_.setup;
  if (setup.grid.is_sharded() && !setup.ranks.leader()) return 0;
  SquareSum<T> square_sum;
  return l2_penalty(setup.options.l2, setup.network, std::as_const(setup.network).template data<T>(), square_sum,
                    team_.kernels, threads_[0]->context());
}

template <class T>
PhaseTimes ThreadExecutor<T>::take_times() {
  PhaseTimes mean;
  for (const auto& each : threads_) {
    const PhaseTimes own = std::exchange(each->times(), {});
    for (const Phase& phase : kPhases) mean.*phase.seconds += own.*phase.seconds / double(step_members());
    mean.sent_bytes += own.sent_bytes;
  }
  mean.sent_bytes += double(team_.tree->bytes_sent() - std::exchange(tree_bytes_, team_.tree->bytes_sent()));
  return mean;
}

template class ThreadExecutor<float>;
template class ThreadExecutor<double>;

}  // namespace lockstep
