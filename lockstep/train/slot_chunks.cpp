#include "lockstep/train/slot_chunks.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

/// What the activations of a chunk may take, so that they are still in cache when backward comes: about half a level-2
/// cache; or as much as the parameters, which have to come from further away once per chunk.
constexpr std::int64_t kChunkBytes = 512 * 1024;

/// What the SIMD kernels of a core do at the least where the work is small.
constexpr double kFlops = 4e10, kBytes = 2e10;  // per second

}  // namespace

int threads_worth_sharing(int threads, std::int64_t parts, const Cost& work, double meeting) {
  const double alone = work.flops / kFlops + work.bytes / kBytes;
  int best = 1;
  double shortest = alone;
  for (int n = 2; n <= threads && n <= parts; ++n) {
    const std::int64_t most = (parts + n - 1) / n;  // parts of the thread that has the most
    const double seconds = alone * double(most) / double(parts) + meeting;
    if (seconds >= shortest) continue;
    best = n;
    shortest = seconds;
  }
  return best;
}

void cut_into_chunks(std::span<const std::int64_t> ids, std::int64_t slots, std::int64_t first, std::int64_t last,
                     std::int64_t most, std::vector<SlotChunk>& chunks) {
  const std::vector<std::int64_t> bounds = cut_into_slots(static_cast<std::int64_t>(ids.size()), slots);
  std::size_t count = 0;
  for (std::int64_t slot = first, run = 0; slot < last; slot += run) {
    run = aligned_run(slot, last, most);
    if (chunks.size() == count) chunks.emplace_back();
    SlotChunk& chunk = chunks[count++];
    const auto begin = bounds.begin() + slot;
    chunk.first = slot;
    chunk.bounds.assign(begin, begin + run + 1);
    for (std::int64_t& bound : chunk.bounds) bound -= *begin;
    chunk.ids = ids.subspan(static_cast<std::size_t>(*begin), static_cast<std::size_t>(chunk.bounds.back()));
  }
  chunks.resize(count);
}

void clear_scores(const SlotChunk& chunk, SlotScores& scores) {
  std::fill_n(scores.loss.begin() + chunk.first, chunk.count(), 0.0);
  std::fill_n(scores.correct.begin() + chunk.first, chunk.count(), 0);
}

std::int64_t slots_per_chunk(std::int64_t batch, std::int64_t slots, const ChunkNeeds& needs) {
  const auto scalar = static_cast<std::int64_t>(needs.scalar);
  const std::int64_t samples = padded(std::max<std::int64_t>(batch / slots, 1));
  const std::int64_t room = std::max(kChunkBytes, needs.parameters * scalar);
  const auto fitting =
      static_cast<std::uint64_t>(std::max<std::int64_t>(room / (samples * needs.activations * scalar), 1));
  return std::min(slots, static_cast<std::int64_t>(std::bit_floor(fitting)));
}

}  // namespace lockstep
