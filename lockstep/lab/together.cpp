#include "lockstep/lab/together.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

namespace lockstep {

double time_together(int threads, const std::function<void(int)>& body) {
  using Clock = std::chrono::steady_clock;
  struct Times {
    Clock::time_point start, end;
    std::exception_ptr failure;
  };
  std::vector<Times> times(static_cast<std::size_t>(threads));
  std::barrier ready(threads);
  std::atomic<int> awake{0};
  const auto run = [&](int index) {
    Times& own = times[static_cast<std::size_t>(index)];
    ready.arrive_and_wait();
    // The barrier wakes its threads one by one, some tens of microseconds apart: meet again without sleeping.
    for (++awake; awake < threads;) std::this_thread::yield();
    own.start = Clock::now();
    try {
      body(index);
    } catch (...) {
      own.failure = std::current_exception();
    }
    own.end = Clock::now();
  };
  {
    std::vector<std::jthread> others;
    for (int index = 1; index < threads; ++index) others.emplace_back(run, index);
    run(0);
  }
  auto first = times.front().start, last = times.front().end;
  for (const Times& own : times) {
    if (own.failure) std::rethrow_exception(own.failure);
    first = std::min(first, own.start);
    last = std::max(last, own.end);
  }
  return std::chrono::duration<double>(last - first).count();
}

double best_time_together(int threads, int least, double seconds, const std::function<void(int)>& body) {
  double best = time_together(threads, body), used = best;
  for (int runs = 1; runs < least || used < seconds; ++runs) {
    const double time = time_together(threads, body);
    best = std::min(best, time);
    used += time;
  }
  return best;
}

}  // namespace lockstep
