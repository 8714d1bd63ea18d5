#include "cli/process/conversation.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {
namespace {

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

/// What `talk` says when it fails.
template <class Talk>
std::string failure(Talk talk) {
  try {
    talk();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Conversation, AnswersEveryCommand) {
  Conversation peer(shell(R"(echo '{"ready": "sh"}'; while read word; do echo "{\"said\": \"$word\"}"; done)"), {}, 20);
  EXPECT_EQ(peer.greeting()["ready"], "sh");
  EXPECT_EQ(peer.ask("one", 20)["said"], "one");
  EXPECT_EQ(peer.ask("two", 20)["said"], "two");
}

TEST(Conversation, ItsLastWordsSayWhyItEnded) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  EXPECT_EQ(failure([] { Conversation(shell("echo first >&2; echo no module torch >&2; exit 1"), {}, 20); }),
            "no module torch");
  EXPECT_EQ(failure([] {
              Conversation peer(shell("echo '{}'; read word; echo lost >&2"), {}, 20);
              peer.ask("run", 20);
            }),
            "lost");
}

TEST(Conversation, NobodyWaitsForEver) {
  EXPECT_EQ(failure([] { Conversation(shell("sleep 60"), {}, 0.2); }), "no answer within 0 s");
  EXPECT_EQ(failure([] { Conversation(shell("sleep 60"), {}, 60, [] { return true; }); }), "stopped by a signal");
  EXPECT_EQ(failure([] { Conversation(shell("echo nonsense; sleep 60"), {}, 20); }),
            "it answered with something else than JSON");
}

/// "S" sleeping, "R" running, "T" stopped; the third word of /proc/PID/stat.
std::string state_of(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  for (int i = 0; i < 3; ++i) file >> word;
  return word;
}

bool becomes_stopped(int process) {
  for (int i = 0; i < 500 && state_of(process) != "T"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return state_of(process) == "T";
}

// A peer whose threads spin on would take a processor from the turn of another rung.
TEST(Conversation, IsStoppedBetweenCommands) {
  Conversation peer(shell("while :; do :; done & echo \"{\\\"spins\\\": $!}\"; while read word; do echo '{}'; done"),
                    {}, 20);
  const int spinner = peer.greeting()["spins"].get<int>();
  EXPECT_TRUE(becomes_stopped(spinner));
  peer.ask("run", 20);
  EXPECT_TRUE(becomes_stopped(spinner));
}

TEST(Conversation, IsAskedToEndThoughItIsStopped) {
  const auto file = std::filesystem::temp_directory_path() / ("lockstep_asked_" + std::to_string(::getpid()));
  {
    Conversation peer(shell("trap 'touch " + file.string() + "; exit' TERM; echo '{}'; while read word; do :; done"),
                      {}, 20);
  }
  EXPECT_TRUE(std::filesystem::remove(file));
}

TEST(Conversation, MoreThanAPipeHoldsOnStandardError) {
  Conversation peer(shell("head -c 300000 /dev/zero >&2; echo '{\"ready\": 1}'"), {}, 20);
  EXPECT_EQ(peer.greeting()["ready"], 1);
}

}  // namespace
}  // namespace lockstep::cli
