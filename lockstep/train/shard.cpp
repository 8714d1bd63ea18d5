#include "lockstep/train/shard.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lockstep/train/progress.hpp"

namespace lockstep {

template <class T>
Shard<T>::Shard(TrainingSetup& setup)
    : setup_(setup),
      update_(setup.options.optimizer, setup.stage.parameters, setup.options.frozen, setup.stage.trainable),
      average_(setup.options.average.any() ? setup.stage.count : 0) {
  const Stage& stage = setup.stage;
  if (setup.grid.is_split()) columns_.emplace(stage, setup.grid.members());
  if (!is_sharded()) return;
  values_ = AlignedBuffer<T>(stage.count);
  for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
    const ParameterInfo& info = stage.parameters[i];
    const std::int64_t whole = setup.network.parameters()[stage.places[i]].elements() / info.blocks;
    const std::int64_t own = info.elements() / info.blocks;
    for (std::int64_t block = 0; block < info.blocks; ++block)
      setup.network.copy_parameter(
          stage.places[i], block * whole + info.skipped,
          std::span(values_.data() + info.offset + block * own, static_cast<std::size_t>(own)));
  }
}

template <class T>
bool Shard<T>::is_finite() {
  const bool own = all_finite(std::span<const T>(weights(), static_cast<std::size_t>(setup_.stage.count)));
  if (!is_sharded()) return own;  // all ranks have the same weights
  const std::vector<std::string> all = setup_.ranks.all_gather(own ? "finite" : "not", "weights");
  return std::ranges::count(all, "finite") == static_cast<std::ptrdiff_t>(all.size());
}

template <class T>
double Shard<T>::swap_average() {
  std::swap_ranges(weights(), weights() + average_.values().size(), average_.values().data());
  return exchange_columns();
}

template <class T>
void Shard<T>::collect_weights() {
  if (!is_sharded()) return;
  setup_.grid.collect(values_.data(), setup_.ranks.leader() ? setup_.network.template data<T>() : nullptr, true);
}

template <class T>
void Shard<T>::collect_state(RankTree<T>& tree) {
  const std::pair<T*, AlignedBuffer<T>*> vectors[] = {{update_.first_data(), &whole_first_},
                                                      {update_.second_data(), &whole_second_}};
  for (const auto& [own, whole] :
       std::span(vectors).first(static_cast<std::size_t>(state_vectors(setup_.options.optimizer)))) {
    tree.gather_divisible(own);
    if (!is_sharded()) continue;
    if (setup_.ranks.leader() && whole->size() == 0) *whole = AlignedBuffer<T>(setup_.network.trainable_count());
    setup_.grid.collect(own, whole->data(), false);
  }
  if (is_sharded() && setup_.options.average.any()) {
    if (setup_.ranks.leader() && whole_average_.size() == 0)
      whole_average_ = AlignedBuffer<T>(setup_.network.parameter_count());
    setup_.grid.collect(average_.values().data(), whole_average_.data(), true);
  }
  collect_weights();
}

template <class T>
std::vector<double> Shard<T>::collect_whole(const T* own) {
  if (!is_sharded()) return {own, own + setup_.stage.count};
  AlignedBuffer<T> whole(setup_.ranks.leader() ? setup_.network.parameter_count() : 0);
  setup_.grid.collect(own, whole.data(), true);
  return {whole.data(), whole.data() + whole.size()};
}

template <class T>
double Shard<T>::norm_over_parts(T* gradient, RankTree<T>& tree, const KernelTable<T>& kernels,
                                 KernelContext& context) {
  const bool leader = setup_.ranks.leader();
  tree.gather(gradient);
  if (leader && whole_gradient_.size() == 0) whole_gradient_ = AlignedBuffer<T>(setup_.network.trainable_count());
  setup_.grid.collect(gradient, whole_gradient_.data(), false);
  double norm = 0;
  if (leader) norm = std::sqrt(SquareSum<T>{}(whole_gradient_.data(), whole_gradient_.size(), kernels, context));
  setup_.grid.broadcast(norm, "norm");
  return norm;
}

template <class T>
void Shard<T>::save(TrainingState& state) const {
  if (is_sharded() && !setup_.ranks.leader()) return;  // it has no more than its part
  state.parameters = setup_.network.values();
  state.first = is_sharded() ? whole_first_ : update_.first();
  state.second = is_sharded() ? whole_second_ : update_.second();
  if (state.averaged > 0) state.average = is_sharded() ? whole_average_ : average_.values();
}

template <class T>
void Shard<T>::restore(const TrainingState& state) {
  auto [parameters, first, second, average] = vectors_of<T>(state, setup_.network, setup_.options.optimizer);
  if (!is_sharded()) {
    setup_.network.values() = std::move(parameters);
    update_.set_state(std::move(first), std::move(second));
    if (average.size() > 0) average_.values() = std::move(average);
    return;
  }
  for (const Piece& piece : setup_.stage.pieces) {
    const auto copy = [&](const AlignedBuffer<T>& from, T* to) {
      if (from.size() > 0) std::copy_n(from.data() + piece.whole, piece.count, to + piece.own);
    };
    copy(parameters, values_.data());
    copy(average, average_.values().data());
    if (piece.own >= setup_.stage.trainable) continue;
    copy(first, update_.first_data());
    copy(second, update_.second_data());
  }
  if (!setup_.ranks.leader()) return;
  setup_.network.values() = std::move(parameters);
  whole_first_ = std::move(first);
  whole_second_ = std::move(second);
  whole_average_ = std::move(average);
}

template class Shard<float>;
template class Shard<double>;

}  // namespace lockstep
