#pragma once
// The published figures of openmp-cuda-pytorch.

#include <array>

namespace lockstep::cli::openmp_published {

inline constexpr const char* kPaper =
    "Guzman, Walton: Parallelizing neural networks with OpenMP and CUDA: a comparison of implementations and "
    "optimizations. University of Oregon, October 2020";

/// The network 2-300-300-300-300-300-300-1 on two Xeon E5-2667v3.
struct ThreadTime {
  int threads;
  double seconds;
};
inline constexpr std::array<ThreadTime, 6> kThreads = {
    {{1, 179.251}, {2, 112.8}, {4, 70.6}, {8, 50.0}, {16, 40.128}, {32, 46.072}}};

// The same on 16 threads with batches of 1 and of 512, and on one thread with batches of 512.
inline constexpr double kBatch1On16 = 1701, kBatch512On16 = 12, kBatch512On1 = 99;

// Multiply and transpose in microseconds, RTX 2080 Ti.
inline constexpr double kOpenmpMicroseconds = 1.213, kKernelMicroseconds = 4.98, kWithCopiesMicroseconds = 121.7;

}  // namespace lockstep::cli::openmp_published
