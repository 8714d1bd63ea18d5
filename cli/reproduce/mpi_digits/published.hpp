#pragma once
// The published figures of mpi-digits.

#include <array>

namespace lockstep::cli::digits_published {

inline constexpr const char* kPaper =
    "Vajja, Konathala, Yashwanth, Marri: Parallelizing deep neural networks using MPI and GPU computing. Project "
    "report, GITAM, October 2022";

inline constexpr int kIterations = 60;
inline constexpr double kRate = 0.1;

/// 60 iterations at rate 0.1: the cost of the first and the last, the share of training samples classified right.
struct Training {
  const char* name;
  double first_cost, last_cost, precision;
};
inline constexpr std::array<Training, 3> kTrainings = {{{"sequential", 7.4984, 3.2175, 0.3578},
                                                        {"called GPU mode", 6.5455, 3.2141, 0.2996},
                                                        {"called parallel", 6.7036, 3.2105, 0.3620}}};

/// What a listing prints per iteration on its rank 0, in seconds: from the smallest to the largest of the iterations
/// that are printed (8 of the first listing, 14 of the second). No number: not printed.
struct Range {
  double low, high;
};
struct Listing {
  const char* name;
  Range broadcast, scatter, hidden, output, forward, back, gather, iteration;
  double total;  // of the 60 iterations
};
inline constexpr Range kNotPrinted{-1, -1};
inline constexpr std::array<Listing, 2> kListings = {{{.name = "called GPU mode",
                                                       .broadcast = {0.046e-3, 0.046e-3},  // of the first weights, once
                                                       .scatter = {1.65e-3, 2.05e-3},      // inputs and labels together
                                                       .hidden = {17.4e-3, 22.6e-3},
                                                       .output = {4.52e-3, 5.42e-3},
                                                       .forward = {0.132, 0.141},
                                                       .back = {0.922, 0.977},
                                                       .gather = {0.023e-3, 0.316e-3},  // both layers together
                                                       .iteration = {1.100, 1.164},
                                                       .total = 68},
                                                      {.name = "called parallel",
                                                       .broadcast = kNotPrinted,
                                                       .scatter = kNotPrinted,
                                                       .hidden = {16.4e-3, 18.9e-3},
                                                       .output = {4.64e-3, 5.66e-3},
                                                       .forward = {0.135, 0.156},
                                                       .back = {0.656, 0.730},
                                                       .gather = kNotPrinted,
                                                       .iteration = {0.825, 0.903},
                                                       .total = 50}}};
/// The cost of every iteration, as far as it is printed: of the sequential run all, of the others the first and the
/// last.
inline constexpr std::array<double, kIterations> kSequentialCosts = {
    7.498432, 6.203171, 5.347060, 4.750202, 4.325933, 4.023093, 3.806998, 3.652785, 3.542505, 3.463330,
    3.406180, 3.364668, 3.334309, 3.311948, 3.295354, 3.282942, 3.273580, 3.266454, 3.260974, 3.256711,
    3.253352, 3.250665, 3.248480, 3.246672, 3.245145, 3.243830, 3.242673, 3.241637, 3.240689, 3.239810,
    3.238980, 3.238187, 3.237423, 3.236678, 3.235947, 3.235227, 3.234513, 3.233804, 3.233097, 3.232390,
    3.231683, 3.230974, 3.230263, 3.229548, 3.228831, 3.228109, 3.227384, 3.226654, 3.225919, 3.225180,
    3.224435, 3.223685, 3.222929, 3.222168, 3.221401, 3.220628, 3.219849, 3.219063, 3.218272, 3.217473};
/// The first iterations that a listing prints, and the last ones, up to kIterations.
template <std::size_t first, std::size_t last>
struct PrintedCosts {
  std::array<double, first> begin;
  std::array<double, last> end;
};
inline constexpr PrintedCosts<3, 5> kGpuModeCosts = {{6.545538, 5.570359, 4.901950},
                                                     {3.217392, 3.216588, 3.215776, 3.214956, 3.214130}};
inline constexpr PrintedCosts<6, 8> kParallelCosts = {
    {6.703611, 5.684853, 4.984062, 4.488327, 4.135382, 3.884263},
    {3.216470, 3.215632, 3.214787, 3.213936, 3.213079, 3.212215, 3.211343, 3.210465}};

inline constexpr double kClaim = 0.30;  // "about 30 % faster in parallel"

/// Notes of the program's first author (2016): the share classified right at rate 2.0 after that number of iterations.
inline constexpr double kFastRate = 2.0;
struct Fast {
  int iterations;
  double precision;
};
inline constexpr std::array<Fast, 4> kFast = {{{50, 0.82}, {100, 0.87}, {200, 0.93}, {300, 0.94}}};

// A rerun of the published program: seconds per iteration on one core of a server of 2026.
inline constexpr double kRerunIteration = 0.29;

}  // namespace lockstep::cli::digits_published
