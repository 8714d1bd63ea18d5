#include "lockstep/run/rank_map.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

RankPlace place(const std::string& host, const std::string& cpus, int cpu_count, int threads) {
  return {.host = host, .cpus = cpus, .cpu_count = cpu_count, .host_cpus = 8, .threads = threads};
}

const Launcher kOpenMpi{.library = MpiLibrary::open_mpi, .size = 2, .name = "Open MPI's mpirun"};
const Launcher kMpich{.library = MpiLibrary::mpich, .size = 2, .name = "MPICH's mpirun"};
const Launcher kSrun{.library = MpiLibrary::mpich, .size = 2, .name = "srun --mpi=pmi2"};

TEST(RankMap, RangesOfNumbers) {
  EXPECT_EQ(number_ranges({}), "");
  EXPECT_EQ(number_ranges({3}), "3");
  EXPECT_EQ(number_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(RankMap, ALinePerRank) {
  EXPECT_EQ(rank_map({place("n1", "0-3", 4, 4), place("n2", "7", 1, 1)}),
            (std::vector<std::string>{"rank 0 on n1: 4 threads, may use cpus 0-3 (4 of 8)",
                                      "rank 1 on n2: 1 thread, may use cpu 7 (1 of 8)"}));
}

TEST(RankMap, RoomForAllThreadsIsNoNews) {
  EXPECT_FALSE(binding_note({place("n1", "0-3", 4, 4), place("n2", "4-7", 4, 1)}, kOpenMpi));
  // More threads than the whole host has is what the user asked for: no binding is in the way.
  EXPECT_FALSE(binding_note({place("n1", "0-7", 8, 16)}, kOpenMpi));
}

TEST(RankMap, MoreThreadsThanProcessors) {
  EXPECT_FALSE(is_oversubscribed({place("n1", "0-3", 4, 4), place("n1", "4-7", 4, 4)}));
  EXPECT_FALSE(is_oversubscribed({place("n1", "0-7", 8, 4), place("n1", "0-7", 8, 4)}));
  EXPECT_TRUE(is_oversubscribed({place("n1", "0-7", 8, 4), place("n1", "0-7", 8, 5)})) << "together";
  EXPECT_TRUE(is_oversubscribed({place("n1", "0-1", 2, 1), place("n2", "0", 1, 2)})) << "bound too tightly";
  EXPECT_TRUE(is_oversubscribed({place("n1", "0", 1, 1), place("n1", "0", 1, 1)})) << "bound to the same one";
  EXPECT_FALSE(is_oversubscribed({place("n1", "0", 1, 1), place("n2", "0", 1, 1)})) << "of different hosts";
}

TEST(RankMap, BoundTooTightly) {
  EXPECT_EQ(
      binding_note({place("n1", "0-7", 8, 4), place("n2", "1", 1, 4)}, kOpenMpi),
      "rank 1 on n2 has 4 threads but is bound to 1 of 8 cpus: use mpirun --map-by slot:PE=4 or --bind-to none, or "
      "the thread count 1");
  EXPECT_EQ(
      binding_note({place("n1", "0-1", 2, 3), place("n1", "2-3", 2, 3), place("n2", "0-1", 2, 3)}, kSrun),
      "rank 0 on n1 has 3 threads but is bound to 2 of 8 cpus (and 2 other ranks so): use srun --cpus-per-task=3 or "
      "--cpu-bind=none, or the thread count 2");
  EXPECT_NE(binding_note({place("n1", "0", 1, 2)}, kMpich)->find("mpirun -bind-to core:2"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
