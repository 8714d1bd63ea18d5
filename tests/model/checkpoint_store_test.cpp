#include "lockstep/model/checkpoint_store.hpp"

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const RunRecord kRun{.config = "[data]\n", .data_digest = std::string(64, 'a'), .metrics_sha256 = std::string(64, '0')};

std::vector<std::byte> checkpoint_at(std::int64_t step) {
  Network network({2});
  network.add(Linear{.out = 2});
  TrainingState state{.steps = step};
  state.parameters = network.values();
  return write_checkpoint(network, {}, state, kRun);
}

std::set<std::string> files(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.insert(entry.path().filename().string());
  return names;
}

void damage(const fs::path& path) {
  std::vector<std::byte> bytes = read_file(path, 1 << 20);
  bytes[bytes.size() - 40] ^= std::byte{1};
  write_file_atomically(path, bytes);
}

TEST(CheckpointName, GoesBothWays) {
  EXPECT_EQ(checkpoint_name(1200), "checkpoint-1200.safetensors");
  for (const std::int64_t step : {0L, 7L, 1200L, 9'000'000'000'000'000'000L})
    EXPECT_EQ(checkpoint_step(checkpoint_name(step)), step);
  for (const char* name :
       {"", "checkpoint-.safetensors", "checkpoint--1.safetensors", "checkpoint-01.safetensors", "checkpoint-1",
        "checkpoint-1.safetensors.tmp", ".checkpoint-1.safetensors.3.0.tmp", "checkpoint-x.safetensors",
        "checkpoint-1x.safetensors", "checkpoint-+1.safetensors", "checkpoint-99999999999999999999.safetensors"})
    EXPECT_EQ(checkpoint_step(name), std::nullopt) << name;
}

TEST(CheckpointStore, KeepsTwoGenerations) {
  const TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  EXPECT_EQ(store.steps(), std::vector<std::int64_t>{});
  EXPECT_FALSE(store.load_newest([](const std::string&) { FAIL(); }));
  for (const std::int64_t step : {3, 20, 100}) store.save(step, checkpoint_at(step));
  EXPECT_EQ(store.steps(), (std::vector<std::int64_t>{100, 20}));
  EXPECT_EQ(files(folder), (std::set<std::string>{"checkpoint-100.safetensors", "checkpoint-20.safetensors"}));
  EXPECT_EQ(store.load_newest([](const std::string&) { FAIL(); })->state.steps, 100);
  store.save(100, checkpoint_at(100));
  EXPECT_EQ(store.steps(), (std::vector<std::int64_t>{100, 20}));
}

TEST(CheckpointStore, FallsBackOneGeneration) {
  const TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (const std::int64_t step : {5, 10}) store.save(step, checkpoint_at(step));
  damage(store.path(10));
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_EQ(store.load_newest(warn)->state.steps, 5);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("checkpoint-10.safetensors: damaged"), std::string::npos) << warnings[0];
  damage(store.path(5));
  try {
    store.load_newest(warn);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    EXPECT_NE(std::string(error.what()).find("no checkpoint in this folder can be used"), std::string::npos);
  }
}

TEST(CheckpointStore, AFullDiskLeavesWhatWasThere) {
  const TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (const std::int64_t step : {5, 10}) store.save(step, checkpoint_at(step));
  const auto save_under_limit = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit limit{500, 500};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(2);
    try {
      store.save(15, checkpoint_at(15));
    } catch (const Error& error) {
      std::_Exit(error.code() == ErrorCode::resources ? 0 : 3);
    }
    std::_Exit(4);
  };
  EXPECT_EXIT(save_under_limit(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(files(folder), (std::set<std::string>{"checkpoint-10.safetensors", "checkpoint-5.safetensors"}));
  EXPECT_EQ(load_checkpoint(store.path(10)).state.steps, 10);
}

TEST(CheckpointWriter, SavesInTheOrderGiven) {
  std::vector<std::int64_t> saved;
  CheckpointWriter writer([&](const Snapshot& snapshot) { saved.push_back(snapshot.state.steps); });
  writer.wait();
  for (std::int64_t step = 1; step <= 50; ++step) {
    writer.hand_over({.state = {.steps = step}});
    writer.wait();
    EXPECT_TRUE(writer.idle());
  }
  EXPECT_EQ(saved.size(), 50U);
  EXPECT_EQ(saved.back(), 50);
}

TEST(CheckpointWriter, IsBusyUntilTheSaveIsDone) {
  std::atomic<bool> go = false, done = false;
  {
    CheckpointWriter writer([&](const Snapshot&) {
      go.wait(false);
      done = true;
    });
    writer.hand_over({});
    EXPECT_FALSE(writer.idle());
    EXPECT_THROW(writer.hand_over({}), Error);
    go = true;
    go.notify_all();
  }
  EXPECT_TRUE(done) << "the end of the writer lets a save end";
}

TEST(CheckpointWriter, PassesItsFailureOn) {
  CheckpointWriter writer([](const Snapshot&) { throw Error(ErrorCode::resources, "no space"); });
  writer.hand_over({});
  EXPECT_THROW(writer.wait(), Error);
  EXPECT_TRUE(writer.idle()) << "once";
  writer.hand_over({});
  const auto look_until_it_throws = [&] {
    while (!writer.idle()) std::this_thread::yield();
    writer.idle();
  };
  EXPECT_THROW(look_until_it_throws(), Error);
}

TEST(CheckpointWriter, LeavesSignalsToTheTraining) {
  sigset_t blocked;
  sigemptyset(&blocked);
  CheckpointWriter writer([&](const Snapshot&) { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  writer.hand_over({});
  writer.wait();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}

}  // namespace
}  // namespace lockstep
