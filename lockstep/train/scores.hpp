#pragma once
// The scores of a batch, by slot, and of an evaluation, by block of samples.

#include "lockstep/distribute/rank_grid.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/batch.hpp"

namespace lockstep {

/// Blocks of an evaluation of this data.
std::int64_t block_count(const Dataset& data);

/// The sums over all slots of a batch.
BatchScores sum_of(const SlotScores& slots);

/// Blocks [first, last) of an evaluation.
struct BlockRange {
  std::int64_t first = 0, last = 0;
};
/// The blocks that one member of this rank scores.
BlockRange own_blocks(RankGrid& grid, const Member& member, const Dataset& data);
/// Their samples.
void list_samples(const BlockRange& blocks, const Dataset& data, std::vector<std::int64_t>& ids);

/// `metrics`: with the scores of every sample.
void resize_blocks(SlotScores& blocks, const Dataset& data, bool metrics);
/// The scores of a data set from those of its blocks, of which every rank has a share; afterwards all have them all.
Scores total_scores(RankGrid& grid, SlotScores& blocks, const Dataset& data, const std::vector<Metric>& metrics,
                    std::int64_t outputs);

}  // namespace lockstep
