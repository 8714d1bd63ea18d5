#include "lockstep/parallel/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"
#include "tests/parallel/rank_threads.hpp"

namespace lockstep {
namespace {

TEST(Ranks, EverybodyHearsEverybody) {
  for (const int size : {1, 2, 3, 5, 8})
    run_ranks(size, [&](Ranks& ranks) {
      // texts of different lengths, one of them empty
      const auto text_of = [](int rank) {
        return std::string(static_cast<std::size_t>(rank * rank), char('a' + rank));
      };
      const std::vector<std::string> all = ranks.all_gather(text_of(ranks.rank()), "test");
      ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], text_of(rank));
      EXPECT_EQ(ranks.broadcast(ranks.leader() ? "from rank 0" : "not mine", "test"), "from rank 0");
      ranks.barrier("test");
    });
}

TEST(Ranks, SharesAreGathered) {
  for (const int size : {1, 2, 3, 7})
    for (const std::int64_t count : {0, 1, 5, 16})
      run_ranks(size, [&](Ranks& ranks) {
        std::vector<double> data(static_cast<std::size_t>(count), -1);
        for (std::int64_t i = ranks.share(count, ranks.rank()); i < ranks.share(count, ranks.rank() + 1); ++i)
          data[static_cast<std::size_t>(i)] = double(i);
        gather_shares(ranks, data.data(), count, "test");
        for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], double(i));
      });
}

/// Flips a bit of one message that it sends.
class DamagingTransport final : public Transport {
 public:
  DamagingTransport(std::unique_ptr<Transport> inner, int number) : inner_(std::move(inner)), number_(number) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int local_size() const override { return inner_->local_size(); }
  int local_rank() const override { return inner_->local_rank(); }
  std::string host() const override { return inner_->host(); }
  std::string describe() const override { return inner_->describe(); }
  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    std::vector<std::byte> changed(bytes.begin(), bytes.end());
    if (rank() == 1 && --number_ == 0) changed[changed.size() / 3] ^= std::byte{1};
    return inner_->start_send(to, channel, changed);  // which copies the bytes
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    return inner_->start_receive(from, channel, bytes);
  }
  bool finished(TransportRequest request) override { return inner_->finished(request); }
  TransportRequest start_library_sum(std::span<float> values) override { return inner_->start_library_sum(values); }
  TransportRequest start_library_sum(std::span<double> values) override { return inner_->start_library_sum(values); }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  std::unique_ptr<Transport> inner_;
  int number_;
};

/// Short and long messages, several at once, between two ranks.
void exchange_vectors(Ranks& ranks) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{100'000}}) {
    const std::vector<double> own(size, 1.5 + ranks.rank());
    std::vector<double> theirs(size);
    ranks.exchange(std::as_bytes(std::span(own)), [&](int) { return std::as_writable_bytes(std::span(theirs)); });
    ranks.exchange(std::as_bytes(std::span(own)), [&](int) { return std::as_writable_bytes(std::span(theirs)); });
    ranks.wait("test");
    EXPECT_EQ(theirs, std::vector<double>(size, 1.5 + (1 - ranks.rank())));
  }
}

TEST(Ranks, EveryDamagedMessageIsFound) {
  // With their checksums rank 1 sends 8 messages; the first 4 have them behind their bytes.
  for (int number = 1; number <= 8; ++number) {
    const auto wrap = [&](std::unique_ptr<Transport> end) {
      return make_checked_transport(std::make_unique<DamagingTransport>(std::move(end), number));
    };
    try {
      run_ranks(2, exchange_vectors, std::chrono::seconds(60), wrap);
      FAIL() << "message " << number;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::integrity);
      EXPECT_NE(std::string(error.what()).find("from rank 1 to rank 0 on localhost"), std::string::npos)
          << error.what();
    }
  }
  run_ranks(2, exchange_vectors, std::chrono::seconds(60), make_checked_transport);
}

TEST(Ranks, ASilentPeerIsNamed) {
  try {
    run_ranks(
        3,
        [](Ranks& ranks) {
          ranks.note_step(41);
          if (ranks.rank() == 2) return;  // says nothing and leaves
          ranks.barrier("reduce");
        },
        std::chrono::milliseconds(50));
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
    const std::string message = error.what();
    for (const char* part : {"rank 0", "rank 2", "phase reduce", "after step 41", "go on from the last checkpoint"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(Ranks, AWaitIsPatientWhileSomebodyWorks) {
  run_ranks(
      2,
      [](Ranks& ranks) {
        ranks.status().somebody_works = true;
        if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ranks.barrier("test");
      },
      std::chrono::milliseconds(50));
}

TEST(Ranks, AWaitTellsWhatTheRankDoes) {
  run_ranks(2, [](Ranks& ranks) {
    ranks.note_phase("loading");
    std::atomic<bool> seen = false;
    std::thread other([&] {
      for (int i = 0; i < 5000 && !seen; ++i) {
        seen = ranks.status().waiting && std::string(ranks.status().phase) == "meeting";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ranks.barrier("meeting");
    if (ranks.rank() == 1) seen = true;  // may not have had to wait
    other.join();
    EXPECT_TRUE(seen);
    EXPECT_FALSE(ranks.status().waiting);
    EXPECT_STREQ(ranks.status().phase, "loading");
    ranks.note_step(5);
    EXPECT_STREQ(ranks.status().phase, "training");
  });
}

TEST(Ranks, MoreRanksThanProcessorsShareThem) {
  const int processors = available_cpus();
  for (const int size : {processors, processors + 1})
    run_ranks(size, [&](Ranks& ranks) {
      EXPECT_EQ(ranks.transport().shares_cores(), size > processors);
      std::vector<int> all(static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank) all[static_cast<std::size_t>(rank)] = rank;
      Ranks group(ranks, all, 1);
      EXPECT_EQ(group.transport().shares_cores(), size > processors);
      group.barrier("test");
    });
}

TEST(Ranks, TheTimeoutComesFromTheEnvironment) {
  ::setenv("LOCKSTEP_PEER_TIMEOUT", "2.5", 1);
  EXPECT_EQ(peer_timeout(), std::chrono::milliseconds(2500));
  for (const char* bad : {"0", "-1", "soon", "1s", "1e9", "nan"}) {
    ::setenv("LOCKSTEP_PEER_TIMEOUT", bad, 1);
    EXPECT_THROW(peer_timeout(), Error) << bad;
  }
  ::setenv("LOCKSTEP_PEER_TIMEOUT", "1000", 1);
  EXPECT_EQ(wait_timeout(), std::chrono::seconds(1000));
  ::unsetenv("LOCKSTEP_PEER_TIMEOUT");
  EXPECT_EQ(peer_timeout(), std::chrono::seconds(8));
  EXPECT_EQ(wait_timeout(), std::chrono::seconds(300));
}

}  // namespace
}  // namespace lockstep
