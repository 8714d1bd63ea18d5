#pragma once
// The published figures of cuda-quadrants.

#include <array>

namespace lockstep::cli::quadrants_published {

inline constexpr const char* kPaper =
    "Khandait, Kanthed, Singh, Kumar: Parallelizing neural networks. Course report, about 2019";

// After each of ten epochs, on the batch that training never sees.
inline constexpr std::array<double, 10> kTestLoss = {0.692727, 0.685889, 0.627985, 0.422742, 0.258762,
                                                     0.189306, 0.153980, 0.132437, 0.117702, 0.106858};
inline constexpr std::array<double, 10> kTestAccuracy = {0.480469, 0.734375, 0.882812, 0.963867, 0.987305,
                                                         0.997070, 0.999023, 0.999023, 1.0,      1.0};

/// Percent of the instructions of the serial program, by callgrind.
struct Share {
  const char* section;
  double percent;
};
inline constexpr std::array<Share, 6> kShares = {{{"linear backward", 48.67},
                                                  {"linear forward", 33.26},
                                                  {"relu backward", 7.09},
                                                  {"relu forward", 7.06},
                                                  {"sigmoid backward", 1.03},
                                                  {"sigmoid forward", 0.60}}};
inline constexpr double kLinearTotal = 81.93, kReluTotal = 14.15, kSigmoidTotal = 1.63;  // as the report adds them up
inline constexpr double kParallelShare = 98.01;  // as the report states it; its parts add up to 97.71
inline constexpr int kDeviceCores = 768;         // of the GTX 1050 Ti
inline constexpr double kAmdahlBound = 45.45, kSpeedUp = 32.09;

// A rerun of the published serial program (ten epochs, one processor of 2026): what its missing -O flag costs.
inline constexpr double kRerunO0 = 6.2, kRerunO2 = 0.85;

}  // namespace lockstep::cli::quadrants_published
