#include "lockstep/train/engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/train/lap.hpp"

namespace lockstep {

namespace {

/// What the activations of a chunk may take, so that they are still in cache when backward comes: about half a level-2
/// cache; or as much as the parameters, which have to come from further away once per chunk. A chunk is one slot at
/// least, and any choice gives the same bits.
constexpr std::int64_t kChunkBytes = 512 * 1024;

/// The inputs of a small data set that is trained in one batch, in one order, are turned into columns once and stay so.
/// Larger ones would only be a second copy of the data.
constexpr std::int64_t kKeptBytes = 64 * 1024 * 1024;

/// A slice of the gradient that is worth a message of its own: it leaves while backward still runs.
constexpr std::int64_t kSliceBytes = 32 * 1024;

void add_share(PhaseTimes& sum, const PhaseTimes& part, double share) {
  for (const Phase& phase : kPhases) sum.*phase.seconds += share * (part.*phase.seconds);
  sum.sent_bytes += part.sent_bytes;
}

}  // namespace

std::int64_t slots_per_chunk(std::int64_t batch, std::int64_t slots, const ChunkNeeds& needs) {
  const auto scalar = static_cast<std::int64_t>(needs.scalar);
  const std::int64_t samples = padded(std::max<std::int64_t>(batch / slots, 1));
  const std::int64_t room = std::max(kChunkBytes, needs.parameters * scalar);
  const auto fitting =
      static_cast<std::uint64_t>(std::max<std::int64_t>(room / (samples * needs.activations * scalar), 1));
  return std::min(slots, static_cast<std::int64_t>(std::bit_floor(fitting)));
}

template <class T>
Engine<T>::Engine(Network& network, const TrainOptions& options, Ranks& ranks)
    : network_(network),
      options_(options),
      ranks_(ranks),
      parts_(
          cut_into_stages(network, body_of(network, options.loss), options.parallel.pipeline, options.parallel.tensor)),
      grid_(ranks, parts_, options.parallel.tensor),
      stage_(grid_.stage()),
      body_(stage_.plans),
      kernels_(make_table<T>(options.backend)),
      update_(options.optimizer, stage_.parameters, stage_.trainable) {
  if (options_.threads == 0) options_.threads = default_threads();
  for (int i = 0; i < options_.threads; ++i) {
    auto holders = grid_.split() ? std::make_unique<RankHolders>(grid_.members_of_thread(i)) : nullptr;
    Seat& seat =
        *seats_.emplace_back(std::make_unique<Seat>(body_, stage_, options.loss, kernels_, std::move(holders)));
    if (!staged()) continue;
    seat.neighbours = grid_.pipeline_of_thread(i);
    seat.pipeline = std::make_unique<Pipeline<T>>(seat.worker, *seat.neighbours, options.parallel.schedule, stage_);
  }
  if (grid_.split()) columns_.emplace(stage_, grid_.members());
  if (parted()) {
    values_ = AlignedBuffer<T>(stage_.count);
    for (std::size_t i = 0; i < stage_.parameters.size(); ++i) {
      const ParameterInfo& info = stage_.parameters[i];
      network.copy_parameter(stage_.places[i], info.skipped,
                             std::span(values_.data() + info.offset, static_cast<std::size_t>(info.elements())));
    }
  }
}

/// Slots and chunks for the batches of this data.
template <class T>
void Engine<T>::prepare(const Dataset& data) {
  // Initial weights are drawn when they are first asked for: not by two members.
  if (!parted()) static_cast<void>(network_.values());
  profile_ = nullptr;  // only fit takes one, and only fit sees the same batch again
  keeps_inputs_ = false;
  fit_ = nullptr;
  check_data(network_, options_.loss, data);
  const std::int64_t batch = options_.batch > 0 ? options_.batch : data.size();
  slots_ = options_.slots > 0 ? options_.slots : auto_slots(batch);
  const std::int64_t held = grid_.split() ? network_.parameter_count() : stage_.count;  // the same for all members
  slots_per_chunk_ = slots_per_chunk(batch, slots_, {body_.activation_elements(), held, sizeof(T)});
  scores_.loss.resize(static_cast<std::size_t>(slots_));
  scores_.correct.resize(static_cast<std::size_t>(slots_));
  squares_.resize(static_cast<std::size_t>((stage_.trainable + kSquareBlock - 1) / kSquareBlock));
  tree_.emplace(grid_.replicas(), slots_, StretchLayout{stage_.count, stage_.trainable, kSquareBlock},
                options_.parallel.reduce);
  tree_bytes_ = 0;
  slices_.reset();
  if (grid_.replicas().size() > 1) {
    std::vector<std::int64_t> boundaries;
    for (const LayerPlan& plan : stage_.plans)
      if (const std::int64_t first = first_parameter(plan); first >= 0) boundaries.push_back(first);
    slices_ = std::make_unique<SlicedReduction<T>>(
        *tree_, slices_of(boundaries, stage_.count, kSliceBytes / static_cast<std::int64_t>(sizeof(T))), stage_.count,
        options_.threads);
  }
  if (parted()) {
    const std::vector<std::string> threads = ranks_.all_gather(std::to_string(options_.threads), "beginning");
    for (std::size_t rank = 1; rank < threads.size(); ++rank)
      if (threads[rank] != threads[0])
        throw Error(ExitCode::usage, fmt::format("rank {} has {} threads and rank 0 has {}: with parallel.pipeline "
                                                 "or tensor all need the same number; set the number of threads",
                                                 rank, threads[rank], threads[0]));
    exchange_columns();
  }
}

template <class T>
void Engine<T>::exchange_columns() {
  if (columns_) seats_[0]->times.sent_bytes += columns_->exchange(values_.data());
}

template <class T>
void Engine<T>::keep_inputs(const Dataset& data) {
  const bool one_batch = options_.batch == 0 || options_.batch >= data.size();
  keeps_inputs_ = one_batch && !options_.shuffle &&
                  data.size() * data.features() * static_cast<std::int64_t>(sizeof(T)) <= kKeptBytes;
  // Chunks are runs of slots: no more of them than slots.
  for (const auto& each : seats_) {
    each->kept.clear();
    if (keeps_inputs_) each->kept.resize(static_cast<std::size_t>(slots_));
  }
}

template <class T>
typename Engine<T>::Stretch Engine<T>::stretch_of(const Member& member) const {
  const std::int64_t blocks = tree_->last_block() - tree_->first_block();
  const std::int64_t first = tree_->first_block() + member.share(blocks, member.index);
  const std::int64_t last = tree_->first_block() + member.share(blocks, member.index + 1);
  return {std::min(stage_.trainable, first * kSquareBlock), std::min(stage_.trainable, last * kSquareBlock), first};
}

template <class T>
void Engine<T>::meet(const Member& member) {
  Lap lap;
  member.barrier.wait();
  lap(seat(member).times.wait);
  close(member, kWaitSection);
}

/// Requests of this rank for step `steps`.
template <class T>
StepRequests Engine<T>::own_requests(std::int64_t steps) const {
  return fit_ != nullptr && fit_->requests ? fit_->requests(steps) : StepRequests{};
}

/// The norm of a gradient of which this rank has a part, by member 0. Its blocks do not end where parts do, so rank 0
/// takes it over the whole vector.
template <class T>
void Engine<T>::find_norm(T* gradient) {
  tree_->gather(gradient);
  if (ranks_.leader() && whole_gradient_.size() == 0) whole_gradient_ = AlignedBuffer<T>(network_.trainable_count());
  grid_.collect(gradient, whole_gradient_.data(), false);
  if (ranks_.leader())
    norm_ = std::sqrt(
        square_norm<T>(whole_gradient_.data(), whole_gradient_.size(), kernels_, seats_[0]->worker.context()));
  grid_.broadcast(norm_, "norm");
}

/// Rank 0's network has the weights of all parts then.
template <class T>
void Engine<T>::collect_weights() {
  if (parted()) grid_.collect(values_.data(), ranks_.leader() ? network_.data<T>() : nullptr, true);
}

/// Whether every weight and running statistic is a finite number: the same answer in every rank. Replicas have the same
/// weights, so only the ranks that hold different parts have to ask each other.
template <class T>
bool Engine<T>::finite_weights() {
  const bool own = all_finite(std::span<const T>(weights(), static_cast<std::size_t>(stage_.count)));
  if (!parted()) return own;
  const std::vector<std::string> all = ranks_.all_gather(own ? "finite" : "not", "weights");
  return std::ranges::count(all, "finite") == static_cast<std::ptrdiff_t>(all.size());
}

/// The stretches of the optimiser's state that the other ranks own; of a network in parts, the whole of it and of the
/// weights is rank 0's.
template <class T>
void Engine<T>::gather_state() {
  const std::pair<T*, AlignedBuffer<T>*> vectors[] = {{update_.first_data(), &whole_first_},
                                                      {update_.second_data(), &whole_second_}};
  for (const auto& [own, whole] :
       std::span(vectors).first(static_cast<std::size_t>(state_vectors(options_.optimizer)))) {
    tree_->gather_divisible(own);
    if (!parted()) continue;
    if (ranks_.leader() && whole->size() == 0) *whole = AlignedBuffer<T>(network_.trainable_count());
    grid_.collect(own, whole->data(), false);
  }
  collect_weights();
}

/// The gradient summed over all slots, valid in this member's stretch and, for member 0 of the rank that owns it, in
/// the running statistics at the end of the vector; only after the first barrier.
template <class T>
T* Engine<T>::reduce(const Member& member, const Batch& batch, const Stretch& own) {
  Seat& mine = seat(member);
  KernelContext& context = mine.worker.context();
  Lap lap;
  if (slices_ != nullptr) {  // the sums are on their way
    if (member.index == 0) {
      grid_.send_scores(scores_, own_requests(batch.step + 1));
      const std::int64_t added = tree_->additions();
      gradient_ = slices_->finish(kernels_, context);
      requests_ = grid_.receive_scores(scores_);
      lap(mine.times.exchange);
      close(member, kExchangeSection, add_cost(tree_->additions() - added, 1, sizeof(T)));
    }
    meet(member);
    return gradient_;
  }
  const std::vector<Subtree<T>> nodes = subtrees();
  const std::int64_t trainable = stage_.trainable, all = stage_.count;
  T* const gradient = add_up<T>(nodes, own.first, own.last - own.first, kernels_, context).front().sum;
  if (member.index == 0) {
    add_up<T>(nodes, trainable, all - trainable, kernels_, context);
    requests_ = own_requests(batch.step + 1);
  }
  lap(mine.times.reduce);
  close(member, kReduceSection, double(node_count() - 1) * add_cost(own.last - own.first, 1, sizeof(T)));
  if (member.index == 0 && ranks_.size() > 1) {  // those with the last stage tell the scores
    grid_.send_scores(scores_, requests_);
    requests_ = grid_.receive_scores(scores_);
    lap(mine.times.exchange);
    close(member, kExchangeSection);
  }
  return gradient;
}

/// Second half: this member's stretch of the parameter vector, in whole blocks of kSquareBlock elements.
template <class T>
void Engine<T>::reduce_and_update(const Member& member, const Batch& batch) {
  Seat& own = seat(member);
  KernelContext& context = own.worker.context();
  const Stretch stretch = stretch_of(member);
  const auto [first, last, first_block] = stretch;
  T* const parameters = weights();
  T* const gradient = reduce(member, batch, stretch);
  Lap lap;
  if (member.index == 0) {
    batch_scores_ = {block_tree(scores_.loss), 0};
    for (const std::int64_t correct : scores_.correct) batch_scores_.correct += correct;
    if (tree_->owns_the_end())
      body_.update_statistics(kernels_, context, parameters, gradient, static_cast<std::int64_t>(batch.ids.size()));
  }
  update_.add_l2(options_.l2, parameters, gradient, first, last, kernels_, context);
  if (options_.clip_norm > 0) {
    if (!parted())
      kernels_.square_sums({.count = last - first, .x = gradient + first, .partial = squares_.data() + first_block},
                           context);
    close(member, kUpdateSection);
    meet(member);
    if (ranks_.size() > 1) {
      if (member.index == 0) parted() ? find_norm(gradient) : tree_->gather_blocks(squares_.data());
      meet(member);
    }
    const double norm = parted() ? norm_ : std::sqrt(block_tree(squares_));
    if (norm > options_.clip_norm)
      kernels_.scale_gradient({.count = last - first, .factor = T(options_.clip_norm / norm), .g = gradient + first},
                              context);
  }
  update_.step(batch.rate, batch.step, parameters, gradient, first, last, kernels_, context);
  lap(own.times.update);
  close(member, kUpdateSection, optimizer_cost(last - first, state_vectors(options_.optimizer), sizeof(T)));
}

template <class T>
void Engine<T>::train_batch(const Member& member, const Batch& batch) {
  run_slots(member, batch);
  meet(member);
  reduce_and_update(member, batch);
  meet(member);
  if (ranks_.size() == 1) return;
  if (member.index == 0) {
    Lap lap;
    tree_->gather(weights());
    exchange_columns();
    if (requests_.stop || requests_.save) gather_state();
    ranks_.note_step(batch.step + 1);
    lap(seat(member).times.broadcast);
    close(member, kExchangeSection);
  }
  meet(member);
}

template <class T>
void Engine<T>::end_epoch(const FitOptions& fit_options, double seconds, double validation_seconds) {
  progress_.end_epoch(finite_weights());
  EpochReport& report = progress_.report;
  collect_weights();
  report.penalty = penalty();
  if (!parted() || ranks_.leader()) report.weight_hash = weight_hash(network_.values());
  for (const auto& each : seats_) {
    add_share(report.times, each->times, 1 / double(seats_.size()));
    each->times = {};
  }
  report.times.total = seconds;
  report.times.validation = validation_seconds;
  report.times.sent_bytes += double(tree_->bytes_sent() - std::exchange(tree_bytes_, tree_->bytes_sent()));
  progress_.hand_out_report(ranks_, fit_options);
}

template <class T>
void Engine<T>::run_epoch(const Member& member, const Dataset& data, const FitOptions& fit_options,
                          std::int64_t total_epochs) {
  double seconds = 0, validation_seconds = 0;
  Lap lap;
  if (member.index == 0) {
    progress_.begin_epoch(options_, data);
    close(member, kShuffleSection);
  }
  member.barrier.wait();
  close(member, kWaitSection);
  for (std::int64_t b = progress_.batch; b < progress_.batches->count(); ++b) {
    const std::int64_t step = progress_.steps + b;
    const double rate = progress_.rate_at(options_, step, total_epochs * progress_.batches->count());
    const Batch batch{data, progress_.batches->ids(b), step, rate};
    train_batch(member, batch);
    if (member.index == 0) {
      // While the others already run the next step.
      progress_.account({.step = step,
                         .samples = static_cast<std::int64_t>(batch.ids.size()),
                         .rate = batch.rate,
                         .scores = batch_scores_,
                         .requests = requests_,
                         .finite = finite_weights_if_saved()},
                        data.classes() > 0, fit_options, total_epochs);
      close(member, kReportSection);
    }
  }
  // The others may still note down how long they waited; after this barrier their times can be read.
  member.barrier.wait();
  close(member, kWaitSection);
  lap(seconds);
  if (fit_options.validation != nullptr) {
    if (member.index == 0) prepare_scores(*fit_options.validation);
    member.barrier.wait();
    close(member, kWaitSection);
    const std::int64_t scored = score_blocks(member, *fit_options.validation);
    close(member, kValidationSection, body_.forward_cost(scored));
    member.barrier.wait();
    close(member, kWaitSection);
    if (member.index == 0) progress_.report.validation = total_scores(grid_, blocks_, *fit_options.validation);
    lap(validation_seconds);
  }
  if (member.index == 0) {
    end_epoch(fit_options, seconds, validation_seconds);
    close(member, kReportSection);
  }
  member.barrier.wait();
  close(member, kWaitSection);
}

template <class T>
std::vector<EpochReport> Engine<T>::fit(const Dataset& data, const FitOptions& fit_options) {
  prepare(data);
  if (data.size() == 0) throw Error(ExitCode::data, "there are no samples to train on");
  if (fit_options.validation != nullptr) check_data(network_, options_.loss, *fit_options.validation);
  keep_inputs(data);
  progress_.reports.clear();
  const std::int64_t first = progress_.epoch, last = first + fit_options.epochs;
  profile_ = fit_options.profile;
  fit_ = &fit_options;
  if (profile_ != nullptr) profile_->begin(sections_of(network_), options_.threads);
  run_team(options_.threads, [&](const Member& member) {
    const auto start = Recorder::Clock::now();
    if (profile_ != nullptr) profile_->recorder(member.index).start();
    for (std::int64_t epoch = first; epoch < last; ++epoch) run_epoch(member, data, fit_options, last);
    if (profile_ != nullptr)
      profile_->wall_ns[static_cast<std::size_t>(member.index)] = (Recorder::Clock::now() - start).count();
  });
  gather_state();
  fit_ = nullptr;
  return std::move(progress_.reports);
}

template <class T>
double Engine<T>::step(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare(data);
  const std::int64_t step = progress_.steps;
  const Batch batch{data, ids, step, progress_.rate_at(options_, step, step + 1)};
  run_team(options_.threads, [&](const Member& member) { train_batch(member, batch); });
  ++progress_.steps;
  return batch_scores_.loss / double(ids.size());
}

template <class T>
std::vector<double> Engine<T>::gradient(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare(data);
  T* total = nullptr;
  run_team(options_.threads, [&](const Member& member) {
    run_slots(member, {data, ids});
    member.barrier.wait();
    if (member.index != 0) return;
    KernelContext& context = seat(member).worker.context();
    total = slices_ != nullptr ? slices_->finish(kernels_, context)
                               : add_up<T>(subtrees(), 0, stage_.count, kernels_, context).front().sum;
    tree_->gather(total);
  });
  update_.add_l2(options_.l2, weights(), total, 0, stage_.trainable, kernels_, seats_[0]->worker.context());
  if (!parted()) return {total, total + stage_.count};
  AlignedBuffer<T> whole(ranks_.leader() ? network_.parameter_count() : 0);
  grid_.collect(total, whole.data(), true);
  return {whole.data(), whole.data() + whole.size()};
}

template class Engine<float>;
template class Engine<double>;

}  // namespace lockstep
