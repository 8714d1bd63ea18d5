#include "lockstep/simulate/alpha_beta.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

/// Subtrees that the slots of one rank of several fall into.
std::int64_t subtrees(std::int64_t slots, int ranks, int rank) {
  return static_cast<std::int64_t>(subtrees_of<float>(slots * rank / ranks, slots * (rank + 1) / ranks).size());
}

double tree_seconds(const AlphaBeta& network, int ranks, const ReducedVector& vector) {
  const double sent = (1 - 1.0 / ranks) * vector.bytes * network.beta;
  const auto count = static_cast<unsigned>(ranks);
  if (std::has_single_bit(count) && ranks <= vector.slots) {
    return 2 * (std::countr_zero(count) * network.alpha + sent);
  }
  std::int64_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, subtrees(vector.slots, ranks, rank));
  const int rounds = ranks > kMostDirect ? std::bit_width(count - 1) : 1;  // of passing the sums on
  return (1 + rounds) * network.alpha + double(most + 1) * sent;
}

double through_first_seconds(const AlphaBeta& network, int ranks, const ReducedVector& vector) {
  std::int64_t all = 0;
  for (int rank = 1; rank < ranks; ++rank) all += subtrees(vector.slots, ranks, rank);
  return 2 * network.alpha + double(all + ranks - 1) * vector.bytes * network.beta;
}

double library_seconds(const AlphaBeta& network, int ranks, const ReducedVector& vector) {
  if (vector.bytes < kShortSum) {
    const int rounds = std::bit_width(static_cast<unsigned>(ranks - 1));
    return rounds * (network.alpha + vector.bytes * network.beta);
  }
  return 2.0 * (ranks - 1) * (network.alpha + vector.bytes / ranks * network.beta);
}

}  // namespace

double reduction_seconds(RankReduction reduction, const AlphaBeta& network, int ranks, const ReducedVector& vector) {
  if (ranks == 1) return 0;
  switch (reduction) {
    case RankReduction::tree:
      return tree_seconds(network, ranks, vector);
    case RankReduction::gather:
      return through_first_seconds(network, ranks, vector);
    case RankReduction::library:
      break;
  }
  return library_seconds(network, ranks, vector);
}

SumTraffic library_sum_traffic(int ranks, int rank, std::int64_t count, std::int64_t scalar) {
  if (ranks == 1) return {};
  if (double(count * scalar) < kShortSum) {
    const auto paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    const bool extra = rank < 2 * (ranks - paired), handed_over = extra && rank % 2 == 0;
    const std::int64_t messages = handed_over ? 1 : std::countr_zero(static_cast<unsigned>(paired)) + (extra ? 1 : 0);
    return {messages, messages * count * scalar};
  }
  // Round after round the part that came last is sent on: all but that of the next rank while summing, all but that of
  // the one after it while the sums are passed on.
  const auto part = [&](int of) { return count / ranks + (of % ranks < count % ranks ? 1 : 0); };
  return {2 * (ranks - 1), (2 * count - part(rank + 1) - part(rank + 2)) * scalar};
}

double gather_seconds(const AlphaBeta& network, int members, double bytes) {
  return members == 1 ? 0 : network.alpha + (1 - 1.0 / members) * bytes * network.beta;
}

double pipeline_seconds(const AlphaBeta& network, std::span<const double> stages, std::int64_t chunks, double bytes) {
  const auto count = static_cast<std::int64_t>(stages.size());
  const double slowest = *std::max_element(stages.begin(), stages.end());
  return double(chunks + count - 1) * slowest + 2.0 * double(count - 1) * (network.alpha + bytes * network.beta);
}

}  // namespace lockstep
