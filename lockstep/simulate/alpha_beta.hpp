#pragma once
// What communication costs in the simplest model: a message of b bytes takes alpha + beta b, a node sends one and
// receives one at a time, and nothing else is in the way. Per step of training; the formulas stand in
// docs/algorithms.md and docs/simulate.md.

#include <cstdint>
#include <span>

#include "lockstep/parallel/rank_tree.hpp"

namespace lockstep {

struct AlphaBeta {
  double alpha = 0;  // seconds per message
  double beta = 0;   // seconds per byte
};

/// A vector over the parameters.
struct ReducedVector {
  std::int64_t slots = 1;
  double bytes = 0;
};

/// Bytes from which on Open MPI takes a ring for a sum, not recursive doubling.
inline constexpr double kShortSum = 10'000;

/// From the sums of every rank to the new weights at every rank.
///   tree, R = 2^k <= slots   2 k alpha + 2 (1 - 1/R) bytes beta
///   tree, any other R        2 alpha + (m + 1) (1 - 1/R) bytes beta, m the most subtrees of a rank
///   gather                   2 alpha + (M + R - 1) bytes beta, M the subtrees of all ranks but the first
///   library, short           k (alpha + bytes beta), k = log2 R rounded up: recursive doubling
///   library, 10 kB or more   2 (R - 1) (alpha + bytes / R beta): a ring
/// The choice of `library` is Open MPI's.
double reduction_seconds(RankReduction reduction, const AlphaBeta& network, int ranks, const ReducedVector& vector);

/// What one rank sends in the library's sum of `count` numbers: counted by the rules of the two algorithms above, for
/// the messages inside a library cannot be observed.
///   recursive doubling   log2 R' messages of everything, R' the largest power of two up to R; of the first 2 (R - R')
///                        ranks the even ones hand theirs over and the odd ones hand the sum back
///   ring                 2 (R - 1) messages of a rank's part: all ranks together send 2 (R - 1) times everything
struct SumTraffic {
  std::int64_t messages = 0, bytes = 0;
};
SumTraffic library_sum_traffic(int ranks, int rank, std::int64_t count, std::int64_t scalar);

/// A matrix of which each of `members` has a part: every part to every other member. alpha + (1 - 1/N) bytes beta
double gather_seconds(const AlphaBeta& network, int members, double bytes);

/// A pipeline: the stages' own seconds for one chunk, forward and back, and the bytes of a chunk between neighbours.
///   (chunks + stages - 1) slowest + 2 (stages - 1) (alpha + bytes beta)
double pipeline_seconds(const AlphaBeta& network, std::span<const double> stages, std::int64_t chunks, double bytes);

}  // namespace lockstep
