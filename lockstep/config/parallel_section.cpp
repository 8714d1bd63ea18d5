#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"

namespace lockstep {

namespace {

const std::vector<std::string> kRankReductions = {"tree", "gather", "mpi"};

}  // namespace

const std::vector<std::string>& parallel_keys() {
  static const std::vector<std::string> keys = {"reduce"};
  return keys;
}

void read_parallel(const Value& section, TrainOptions& train) {
  const TableReader table(section, "parallel", parallel_keys(), all_keys());
  if (const auto reduction = table.choice("reduce", kRankReductions))
    train.rank_reduction = static_cast<RankReduction>(*reduction);
}

const std::string& rank_reduction_name(RankReduction reduction) {
  return kRankReductions[static_cast<std::size_t>(reduction)];
}

}  // namespace lockstep
