#pragma once
// The published figures of mnist-mlp.

#include <array>

namespace lockstep::cli::mnist_published {

inline constexpr const char* kPaper =
    "Technion: Concurrent and distributed training for deep learning, assignment 1, winter 2024/25; figures of a "
    "public solution";

// Share of the 10,000 validation digits after each epoch, and of the test digits after the last.
inline constexpr std::array<double, 5> kValidation = {0.9268, 0.9452, 0.9600, 0.9643, 0.9690};
inline constexpr double kTest = 0.9678, kAsked = 0.95;

/// Seconds for `calls` calls, the best of three.
struct Exercise {
  const char* variant;
  double seconds;
};
inline constexpr int kMaxCalls = 20, kXxtCalls = 100;
inline constexpr std::array<Exercise, 3> kMax = {
    {{"Python loops", 18.345}, {"numba", 0.0303}, {"CUDA, 1000 blocks of 1000 threads", 0.1819}}};
inline constexpr std::array<Exercise, 3> kXxt = {
    {{"numpy", 0.410}, {"numba", 6.891}, {"CUDA, one block of 1024 threads", 2.844}}};
inline constexpr double kAskedRatio = 40;  // from the trivial version to the GPU

}  // namespace lockstep::cli::mnist_published
