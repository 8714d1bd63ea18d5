#include "lockstep/parallel/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

std::optional<Launcher> found_in(const std::map<std::string, std::string>& environment) {
  return find_launcher([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::optional<int> local_rank_in(const std::map<std::string, std::string>& environment) {
  return find_local_rank([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, EachSaysTheRankOnItsHost) {
  EXPECT_FALSE(local_rank_in({}));
  EXPECT_FALSE(local_rank_in({{"PMIX_RANK", "3"}, {"SLURM_PROCID", "3"}}));  // ranks of all hosts
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MVP_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID"})
    EXPECT_EQ(local_rank_in({{name, "2"}}), 2) << name;
  // srun's word for the helper of another launcher does not count.
  EXPECT_EQ(local_rank_in({{"SLURM_LOCALID", "0"}, {"MPI_LOCALRANKID", "3"}}), 3);
  EXPECT_THROW(local_rank_in({{"PALS_LOCAL_RANKID", "first"}}), Error);
}

TEST(Launcher, AProcessOnItsOwnHasNone) {
  EXPECT_FALSE(found_in({}));
  EXPECT_FALSE(found_in({{"OMPI_COMM_WORLD_SIZE", "1"}}));
  EXPECT_FALSE(found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}));
  // within sbatch, without srun
  EXPECT_FALSE(found_in({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));
}

TEST(Launcher, WhatIsNoNumberOfRanksIsRefused) {
  for (const char* size : {"many", "0", "-4", "4x", "99999999999"}) {
    EXPECT_THROW(found_in({{"OMPI_COMM_WORLD_SIZE", size}}), Error) << size;
    EXPECT_THROW(found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", size}}), Error) << size;
    EXPECT_THROW(found_in({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", size}}), Error) << size;
  }
}

TEST(Launcher, EachIsKnownByItsMarks) {
  const auto open_mpi = found_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->library, MpiLibrary::open_mpi);
  EXPECT_EQ(open_mpi->size, 4);
  const auto mpich = found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}});
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->library, MpiLibrary::mpich);
  EXPECT_EQ(mpich->size, 3);
  const auto pmix = found_in({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "0"}});
  ASSERT_TRUE(pmix);
  EXPECT_EQ(pmix->library, MpiLibrary::open_mpi);
  EXPECT_EQ(pmix->size, 8);
}

TEST(Launcher, SrunWithPmi2IsMpich) {
  const auto pmi2 = found_in({{"PMI_FD", "11"},
                              {"PMI_RANK", "1"},
                              {"PMI_SIZE", "2"},
                              {"SLURM_MPI_TYPE", "pmi2"},
                              {"SLURM_STEP_NUM_TASKS", "2"},
                              {"SLURM_PROCID", "1"}});
  ASSERT_TRUE(pmi2);
  EXPECT_EQ(pmi2->library, MpiLibrary::mpich);
  EXPECT_EQ(pmi2->size, 2);
  EXPECT_EQ(pmi2->name, "srun --mpi=pmi2");
}

// As seen under mpirun.mpich -n 4 in a job of two nodes, where Slurm's default is pmix: one helper per node was started
// by srun, and each started two ranks.
TEST(Launcher, MpichInsideAJobIsNotTakenForSrun) {
  const auto mpich = found_in({{"PMI_FD", "5"},
                               {"PMI_RANK", "3"},
                               {"PMI_SIZE", "4"},
                               {"PMIX_RANK", "1"},
                               {"SLURM_MPI_TYPE", "pmix"},
                               {"SLURM_STEP_NUM_TASKS", "2"},
                               {"SLURM_PROCID", "1"}});
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->library, MpiLibrary::mpich);
  EXPECT_EQ(mpich->size, 4);
  EXPECT_EQ(mpich->name, "MPICH's mpirun");
}

// The same with Open MPI's mpirun, whose second node was started by srun as a step of one task.
TEST(Launcher, OpenMpiInsideAJobIsNotTakenForSrun) {
  const auto open_mpi = found_in(
      {{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->size, 2);
  EXPECT_EQ(open_mpi->name, "Open MPI's mpirun");
}

TEST(Launcher, UnconnectedProcessesAreRefused) {
  try {
    found_in({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}});
    FAIL() << "each would train alone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    for (const char* part : {"4 processes", "--mpi=pmix", "--mpi=pmi2"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep
