// Scores over a data set, by all members and ranks.

#include <algorithm>
#include <numeric>

#include "lockstep/train/engine.hpp"

namespace lockstep {

template <class T>
void Engine<T>::prepare_scores(const Dataset& data) {
  if (data.size() > 0) ranks_.note_phase("evaluation");
  const auto blocks = static_cast<std::size_t>((data.size() + kScoreBlock - 1) / kScoreBlock);
  blocks_.loss.resize(blocks);
  blocks_.correct.resize(blocks);
}

/// This member's share of an evaluation's blocks; the number of its samples.
template <class T>
std::int64_t Engine<T>::score_blocks(const Member& member, const Dataset& data) {
  const auto blocks = static_cast<std::int64_t>(blocks_.loss.size());
  const std::int64_t first = grid_.replicas().share(blocks, grid_.replicas().rank());
  const std::int64_t own = grid_.replicas().share(blocks, grid_.replicas().rank() + 1) - first;
  typename Pipeline<T>::Task task{{.data = data, .parameters = weights()}, 0};
  std::vector<std::int64_t> ids;
  PhaseTimes ignored;
  std::int64_t scored = 0;
  for (std::int64_t block = first + member.share(own, member.index);
       block < first + member.share(own, member.index + 1); ++block) {
    ids.resize(static_cast<std::size_t>(std::min(kScoreBlock, data.size() - block * kScoreBlock)));
    std::iota(ids.begin(), ids.end(), block * kScoreBlock);
    const std::int64_t columns[] = {0, static_cast<std::int64_t>(ids.size())};
    task.chunk.ids = ids;
    task.chunk.slots = {columns};
    task.first_slot = static_cast<std::size_t>(block);
    if (staged())
      seat(member).pipeline->infer(task, blocks_, ignored);
    else
      seat(member).worker.run(task.chunk, blocks_, task.first_slot, ignored);
    scored += static_cast<std::int64_t>(ids.size());
  }
  return scored;
}

Scores total_scores(RankGrid& grid, SlotScores& blocks, const Dataset& data) {
  const auto count = static_cast<std::int64_t>(blocks.loss.size());
  grid.gather_scores(blocks.loss.data(), count);
  grid.gather_scores(blocks.correct.data(), count);
  Scores total{.samples = data.size()};
  if (data.size() > 0) total.loss = block_tree(blocks.loss) / double(data.size());
  if (data.classes() > 0)
    total.correct = std::accumulate(blocks.correct.begin(), blocks.correct.end(), std::int64_t{0});
  return total;
}

template <class T>
Scores Engine<T>::evaluate(const Dataset& data) {
  if (!parted()) static_cast<void>(network_.values());  // as prepare()
  check_data(network_, options_.loss, data);
  prepare_scores(data);
  run_team(options_.threads, [&](const Member& member) { score_blocks(member, data); });
  return total_scores(grid_, blocks_, data);
}

template <class T>
double Engine<T>::penalty() {
  if (options_.l2 == 0 || (parted() && !ranks_.leader())) return 0;
  double sum = 0;
  for (const ParameterInfo& info : network_.parameters())
    if (info.role == Role::weight)
      sum += square_norm<T>(network_.data<T>() + info.offset, info.elements(), kernels_, seats_[0]->worker.context());
  return options_.l2 / 2 * sum;
}

template void Engine<float>::prepare_scores(const Dataset&);
template void Engine<double>::prepare_scores(const Dataset&);
template std::int64_t Engine<float>::score_blocks(const Member&, const Dataset&);
template std::int64_t Engine<double>::score_blocks(const Member&, const Dataset&);
template Scores Engine<float>::evaluate(const Dataset&);
template Scores Engine<double>::evaluate(const Dataset&);
template double Engine<float>::penalty();
template double Engine<double>::penalty();

}  // namespace lockstep
