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

TEST(Launcher, AProcessOnItsOwnHasNone) {
  EXPECT_FALSE(found_in({}));
  EXPECT_FALSE(found_in({{"OMPI_COMM_WORLD_SIZE", "1"}}));
  EXPECT_FALSE(found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}));
  // within sbatch, without srun
  EXPECT_FALSE(found_in({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));
  EXPECT_FALSE(found_in({{"OMPI_COMM_WORLD_SIZE", "many"}}));
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

TEST(Launcher, ProcessesThatCannotFindEachOtherAreRefused) {
  try {
    found_in({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}});
    FAIL() << "each would train alone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    for (const char* part : {"4 processes", "--mpi=pmix", "--mpi=pmi2"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep
