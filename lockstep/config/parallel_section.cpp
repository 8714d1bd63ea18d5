#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"

namespace lockstep {

namespace {

const std::vector<std::string> kRankReductions = {"tree", "gather", "mpi"};
const std::vector<std::string> kPipelineSchedules = {"1f1b", "gpipe"};
constexpr std::int64_t kMaxParts = 1024;

}  // namespace

const std::vector<std::string>& parallel_keys() {
  static const std::vector<std::string> keys = {"reduce", "tensor", "pipeline", "schedule"};
  return keys;
}

ParallelOptions read_parallel(const Value& section) {
  const TableReader table(section, "parallel", parallel_keys(), all_keys());
  ParallelOptions parallel;
  if (const auto reduction = table.choice("reduce", kRankReductions))
    parallel.reduce = static_cast<RankReduction>(*reduction);
  const auto parts = [&](const char* key, int& count) {
    std::int64_t read = count;
    table.read(key, read, {1, kMaxParts});
    count = static_cast<int>(read);
  };
  parts("tensor", parallel.tensor);
  parts("pipeline", parallel.pipeline);
  if (const auto schedule = table.choice("schedule", kPipelineSchedules))
    parallel.schedule = static_cast<PipelineSchedule>(*schedule);
  return parallel;
}

const std::string& name_of(RankReduction reduction) { return kRankReductions[static_cast<std::size_t>(reduction)]; }
const std::string& name_of(PipelineSchedule schedule) { return kPipelineSchedules[static_cast<std::size_t>(schedule)]; }

}  // namespace lockstep
