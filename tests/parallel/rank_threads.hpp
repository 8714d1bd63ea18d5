#pragma once
// Runs a program once per rank, each in a thread of its own.

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/transport.hpp"

namespace lockstep {

/// What to put around the transport of each rank.
using WrapTransport = std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)>;

/// The exception of the lowest rank that threw is thrown again here, when all have ended.
inline void run_ranks(int size, const std::function<void(Ranks&)>& program,
                      std::chrono::nanoseconds timeout = std::chrono::seconds(60), const WrapTransport& wrap = {}) {
  std::vector<std::unique_ptr<Transport>> ends = make_thread_transports(size);
  for (auto& end : ends)
    if (wrap) end = wrap(std::move(end));
  std::vector<std::exception_ptr> failures(ends.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ends.size(); ++rank)
    threads.emplace_back([&, rank] {
      try {
        Ranks ranks(std::move(ends[rank]), timeout);
        program(ranks);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lockstep
