#pragma once
// How often this program has asked for memory by `new`: containers, functions, strings.

#include <atomic>
#include <cstdint>

namespace lockstep::test {

extern std::atomic<std::int64_t> allocations;

}  // namespace lockstep::test
