// mpirun -n 2 reduce_ranks [PARAMETERS [ROUNDS]], on 2^k ranks: the sum of a vector over ranks, and the way back to all
// of them, by the tree and by MPI_Allreduce, turn about in one run. Rank 0 prints the median time of each and their
// ratio. LeNet-5 has 61706 parameters, which is the default. Ranks meet before every round, so that none is waited for.

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/rank_tree.hpp"

namespace {

using namespace lockstep;

class Reduction {
 public:
  Reduction(Ranks& ranks, std::int64_t parameters, RankReduction how)
      : ranks_(ranks),
        kernels_(make_table<float>(Backend::simd)),
        tree_(ranks, ranks.size(), {parameters, parameters, 1}, how),
        sum_(parameters) {}

  /// Seconds from the sums of this rank to the total at all of them.
  double run() {
    std::fill_n(sum_.data(), sum_.size(), 1.0F + static_cast<float>(ranks_.rank()));
    const Subtree<float> own{sum_.data(), 0, ranks_.rank()};
    ranks_.barrier("measurement");
    const auto start = std::chrono::steady_clock::now();
    tree_.gather(tree_.reduce(std::span(&own, 1), kernels_, context_));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  Ranks& ranks_;
  KernelTable<float> kernels_;
  KernelContext context_;
  RankTree<float> tree_;
  AlignedBuffer<float> sum_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::int64_t parameters = argc > 1 ? std::atoll(argv[1]) : 61706;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 500;
    Ranks ranks(connect_transport());
    if (!std::has_single_bit(static_cast<unsigned>(ranks.size())))
      throw Error(ErrorCode::usage, "start it on 2, 4, 8, ... ranks");
    Reduction tree(ranks, parameters, RankReduction::tree), library(ranks, parameters, RankReduction::library);
    std::vector<double> tree_times, library_times;
    for (int round = 0; round < rounds; ++round) {
      tree_times.push_back(tree.run());
      library_times.push_back(library.run());
    }
    if (!ranks.leader()) return 0;
    const Summary ours = summarise(tree_times), theirs = summarise(library_times);
    fmt::print("{} floats, {} ranks ({}), {} rounds\n", parameters, ranks.size(), ranks.transport().describe(), rounds);
    const auto line = [](const char* name, const Summary& s) {
      fmt::print("{:14} median {:8.1f} us  {}\n", name, s.median * 1e6,
                 s.interval ? fmt::format("[{:.1f}, {:.1f}]", s.interval->low * 1e6, s.interval->high * 1e6)
                            : too_few_text(s.count));
    };
    line("tree", ours);
    line("MPI_Allreduce", theirs);
    fmt::print("tree / MPI_Allreduce {:.2f}\n", ours.median / theirs.median);
  } catch (const Error& error) {
    std::fprintf(stderr, "reduce_ranks: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
