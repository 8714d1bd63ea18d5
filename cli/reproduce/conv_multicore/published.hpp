#pragma once
// The published figures of conv-multicore.

#include <array>

namespace lockstep::cli::conv_published {

inline constexpr const char* kPaper =
    "Pandey, Nagwani, Verma: Parallel and scalable deep learning algorithms for high performance computing "
    "architectures. International Journal of Engineering Trends and Technology 69(4), 2021";

inline constexpr std::array<int, 4> kCores = {1, 2, 4, 8};

/// Table III: seconds per image, ten runs on each number of cores (Java 8 threads, AMD Opteron 6136, 8 cores, 2.4 GHz).
inline constexpr std::array<std::array<double, 10>, 4> kSeconds = {
    {{84.497, 87.353, 86.299, 85.600, 83.734, 84.826, 85.173, 90.199, 86.308, 85.136},
     {48.447, 48.816, 48.956, 49.568, 48.799, 49.434, 48.974, 49.031, 48.666, 49.943},
     {26.302, 25.497, 26.349, 25.290, 25.286, 25.777, 24.479, 25.422, 25.086, 24.278},
     {14.401, 14.567, 14.276, 14.378, 13.843, 14.049, 14.178, 14.325, 14.461, 14.323}}};
inline constexpr std::array<double, 4> kAverage = {85.9125, 49.0664, 25.3766, 14.2801};

/// Table IV: the speed-up from `from` cores to `to`.
struct SpeedUp {
  int from, to;
  double value;
};
inline constexpr std::array<SpeedUp, 6> kSpeedUps = {
    {{1, 2, 1.751}, {1, 4, 3.385}, {1, 8, 6.016}, {2, 4, 1.934}, {2, 8, 3.436}, {4, 8, 1.777}}};

}  // namespace lockstep::cli::conv_published
