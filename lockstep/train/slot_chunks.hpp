#pragma once
// A batch cut into slots, and the slots of a rank or thread into chunks: what goes through the network at one time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/distribute/worker.hpp"
#include "lockstep/parallel/slot_sums.hpp"

namespace lockstep {

/// Slots [first, first + count()) of a batch: an aligned power of two of them, so their sum is a node of the slot tree.
struct SlotChunk {
  std::int64_t first = 0;
  std::vector<std::int64_t> bounds;   // where each slot begins within the chunk, and the end
  std::span<const std::int64_t> ids;  // samples; slots may have none

  std::int64_t count() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
  NodeId node() const { return node_of(first, count()); }
};

/// Cuts slots [first, last) of a batch that has `slots` of them into chunks of at most `most`. Keeps the memory of
/// `chunks`.
void cut_into_chunks(std::span<const std::int64_t> ids, std::int64_t slots, std::int64_t first, std::int64_t last,
                     std::int64_t most, std::vector<SlotChunk>& chunks);

/// The scores of slots without samples.
void clear_scores(const SlotChunk& chunk, SlotScores& scores);

/// How many of `threads` threads should share work that has `parts` equal parts (slots, blocks): as many as make it
/// shorter, when sharing it adds `meeting` seconds. Any choice gives the same bits.
int threads_worth_sharing(int threads, std::int64_t parts, const Cost& work, double meeting);
/// Work that is worth any number of threads.
inline constexpr Cost kMuchWork{.flops = 1e18};

/// What the size of a chunk on the CPU follows from: numbers per sample (Sequence::activation_elements), parameters,
/// bytes of a number.
struct ChunkNeeds {
  std::int64_t activations, parameters;
  std::size_t scalar;
};

/// Slots per chunk on the CPU: a power of two, as many as keep the activations in cache or below the size of the
/// parameters, at least one. Any choice gives the same bits.
std::int64_t slots_per_chunk(std::int64_t batch, std::int64_t slots, const ChunkNeeds& needs);

}  // namespace lockstep
