#include "lockstep/parallel/dead_jobs.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSession = "OMPI_MCA_orte_jobfam_session_dir";

/// A child that waits to be killed.
pid_t start_child() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execlp("sleep", "sleep", "600", nullptr);
  ::_exit(127);
}

void end_child(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// The number of a process that is no more.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

class DeadJobs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "lockstep-dead-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    folders_ = {.sessions = {base_ / "ompi.host.0"}, .memory = base_ / "shm"};
    fs::create_directories(folders_.memory);
  }
  void TearDown() override {
    ::unsetenv(kSession);
    fs::remove_all(base_);
  }

  /// As mpirun leaves it when it has started processes. Job 2fed0000 is mpirun itself, 2fed0001 its first job.
  fs::path session(pid_t mpirun, bool marked, bool started = true) {
    fs::path path = folders_.sessions[0] / ("pid." + std::to_string(mpirun));
    fs::create_directories(path / "0" / "0");
    fs::create_directories(path / "pmix_dstor_ds21_1");
    write(path / "contact.txt", std::to_string(0x2fed0000U) + ".0;tcp://192.0.2.2:39321\n1\n");
    if (started) write(path / "pmix_dstor_ds21_1" / "smdataseg-1-0", "");
    ::setenv(kSession, path.c_str(), 1);
    if (marked) const StartMark mark;
    ::unsetenv(kSession);
    return path;
  }
  fs::path memory(const std::string& name) {
    write(folders_.memory / name, "x");
    return folders_.memory / name;
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  static void age(const fs::path& path, int seconds) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  fs::path base_;
  JobFolders folders_;
};

TEST_F(DeadJobs, OursAreRemoved) {
  const fs::path ours = session(dead_process(), true);
  const fs::path segment = memory("vader_segment.host.0.2fed0001.1"), other = memory("vader_segment.host.0.2fee0001.1");
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_FALSE(fs::exists(segment));
  EXPECT_TRUE(fs::exists(other)) << "of another job";
  EXPECT_FALSE(fs::exists(folders_.sessions[0])) << "it was the last session";
}

TEST_F(DeadJobs, ThoseOfOtherProgramsAreNot) {
  const pid_t dead = dead_process();
  const fs::path theirs = session(dead, false);
  const fs::path segment = memory("vader_segment.host.0.2fed0001.1");
  const fs::path strange = folders_.sessions[0] / "pid.1x";
  fs::create_directories(strange / "0");
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_TRUE(fs::exists(theirs));
  EXPECT_TRUE(fs::exists(segment));
  EXPECT_TRUE(fs::exists(strange));
  // The same, known by whoever has started that mpirun.
  EXPECT_TRUE(remove_dead_jobs(folders_, {dead}));
  EXPECT_FALSE(fs::exists(theirs));
  EXPECT_FALSE(fs::exists(segment));
}

TEST_F(DeadJobs, AnMpirunThatHadStartedNothing) {
  const fs::path empty = session(dead_process(), false, false), used = session(dead_process(), false, false);
  write(used / "notes.txt", "mine");
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(empty));
  EXPECT_TRUE(fs::exists(used)) << "holds what mpirun does not make";
}

TEST_F(DeadJobs, AnMpirunThatDiedAtOnce) {
  const fs::path path = folders_.sessions[0] / ("pid." + std::to_string(dead_process()));
  fs::create_directories(path);
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(path));
}

/// The ranks of one job start together, and each of them cleans up.
TEST_F(DeadJobs, RemovedBySeveralAtOnce) {
  for (int time = 0; time < 50; ++time) {
    const fs::path path = session(dead_process(), true);
    for (int job = 1; job < 30; ++job) fs::create_directories(path / std::to_string(job) / "0");
    std::vector<std::thread> starts;
    for (int start = 0; start < 3; ++start) starts.emplace_back([&] { remove_dead_jobs(folders_, {}); });
    for (std::thread& each : starts) each.join();
    ASSERT_FALSE(fs::exists(path)) << time;
  }
}

/// A start that is killed while it cleans up leaves the mark: the next one goes on.
TEST_F(DeadJobs, HalfRemoved) {
  const fs::path ours = session(dead_process(), true), empty = session(dead_process(), false, false);
  for (const fs::path& path : {ours, empty}) fs::remove_all(path / "0");
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_FALSE(fs::exists(empty));
}

TEST_F(DeadJobs, WhatLivesIsLeftAlone) {
  // It keeps that name because it does not exec.
  const pid_t mpirun = ::fork();
  if (mpirun == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "mpirun.openmpi");
    ::pause();
    ::_exit(0);
  }
  for (std::string name; name != "mpirun.openmpi";) {
    std::ifstream file("/proc/" + std::to_string(mpirun) + "/comm");
    std::getline(file, name);
    std::this_thread::yield();
  }
  const fs::path path = session(mpirun, true);
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_TRUE(fs::exists(path));
  end_child(mpirun);
  // It is dead, but one of its ranks is not. Often, for a rank that begins its program has no environment for a moment.
  for (int time = 0; time < 20; ++time) {
    ::setenv(kSession, path.c_str(), 1);
    const pid_t rank = start_child();
    ::unsetenv(kSession);
    for (std::string name; name != "sleep";) {
      std::ifstream file("/proc/" + std::to_string(rank) + "/comm");
      std::getline(file, name);
    }
    EXPECT_FALSE(remove_dead_jobs(folders_, {}));
    EXPECT_TRUE(fs::exists(path));
    end_child(rank);
  }
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(DeadJobs, APidThatIsInUseAgain) {
  const pid_t other = start_child();
  const fs::path path = session(other, true);
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(path)) << "that process is no mpirun";
  end_child(other);
}

TEST_F(DeadJobs, OfMpich) {
  // The name of a mark, with the number of a dead parent.
  const fs::path marked = session(dead_process(), true);
  std::string name;
  for (const auto& each : fs::directory_iterator(marked))
    if (each.path().filename().string().starts_with("lockstep.")) name = each.path().filename().string();
  name = name.substr(0, name.rfind('.') + 1);
  const fs::path dead = memory(name + std::to_string(dead_process())),
                 alive = memory(name + std::to_string(::getpid()));
  for (const fs::path& each : {dead, alive}) age(each, 20);
  const fs::path ours = memory("mpich_shar_tmpAbCdEf"), old = memory("mpich_shar_tmpGhIjKl");
  const fs::path beneath = memory("ucx_shm_posix_32dd6c69"), foreign = memory("sem.mpich_");
  age(ours, 18);
  age(beneath, 18);
  age(old, 30);
  const fs::path fresh = memory("mpich_shar_tmpMnOpQr");
  EXPECT_FALSE(remove_dead_jobs(folders_, {})) << "the fresh one may not be mapped yet";
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_FALSE(fs::exists(beneath));
  age(fresh, 10);
  EXPECT_TRUE(remove_dead_jobs(folders_, {}));
  EXPECT_FALSE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(dead));
  for (const fs::path& each : {old, foreign, alive}) EXPECT_TRUE(fs::exists(each)) << each;
}

}  // namespace
}  // namespace lockstep
