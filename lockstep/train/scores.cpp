#include "lockstep/train/scores.hpp"

#include <algorithm>
#include <numeric>

#include "lockstep/kernels/slots.hpp"

namespace lockstep {

std::int64_t block_count(const Dataset& data) { return (data.size() + kScoreBlock - 1) / kScoreBlock; }

BatchScores sum_of(const SlotScores& slots) {
  return {block_tree(slots.loss), std::accumulate(slots.correct.begin(), slots.correct.end(), std::int64_t{0})};
}

BlockRange own_blocks(RankGrid& grid, const Member& member, const Dataset& data) {
  const Ranks& replicas = grid.replicas();
  const std::int64_t first = replicas.share(block_count(data), replicas.rank());
  const std::int64_t count = replicas.share(block_count(data), replicas.rank() + 1) - first;
  return {first + member.share(count, member.index), first + member.share(count, member.index + 1)};
}

void list_samples(const BlockRange& blocks, const Dataset& data, std::vector<std::int64_t>& ids) {
  const std::int64_t first = blocks.first * kScoreBlock;
  ids.resize(static_cast<std::size_t>(std::min(blocks.last * kScoreBlock, data.size()) - first));
  std::iota(ids.begin(), ids.end(), first);
}

void resize_blocks(SlotScores& blocks, const Dataset& data, bool metrics) {
  blocks.loss.resize(static_cast<std::size_t>(block_count(data)));
  blocks.correct.resize(blocks.loss.size());
  metrics = metrics && data.step_classes() == 0;  // those of steps follow from the loss
  blocks.samples.resize(metrics ? block_count(data) * kScoreBlock : 0, data.classes() > 0);
}

Scores total_scores(RankGrid& grid, SlotScores& blocks, const Dataset& data, const std::vector<Metric>& metrics,
                    std::int64_t outputs) {
  const auto count = static_cast<std::int64_t>(blocks.loss.size());
  grid.gather_scores(blocks.loss.data(), count);
  grid.gather_scores(blocks.correct.data(), count);
  const BatchScores sum = sum_of(blocks);
  Scores total{.samples = data.size()};
  const std::int64_t answers = target_count(data, ids_from(0, data.size()));
  if (data.size() > 0) total.loss = sum.loss / double(answers);
  if (data.step_classes() > 0) total.steps = answers;
  if (data.classes() > 0 || data.step_classes() > 0) total.correct = sum.correct;
  SampleScores& samples = blocks.samples;
  for (auto* numbers : {&samples.answer, &samples.place})
    if (!numbers->empty()) grid.gather_scores(numbers->data(), count, kScoreBlock);
  for (auto* numbers :
       {&samples.margin, &samples.gap, &samples.sure, &samples.absolute, &samples.square, &samples.value})
    if (!numbers->empty()) grid.gather_scores(numbers->data(), count, kScoreBlock);
  total.metrics = metric_values(metrics, samples, data, outputs, total.loss);
  return total;
}

}  // namespace lockstep
