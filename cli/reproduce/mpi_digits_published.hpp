#pragma once
// The published figures of mpi-digits.

#include <array>

namespace lockstep::cli::digits_published {

inline constexpr const char* kPaper =
    "Vajja, Konathala, Yashwanth, Marri: Parallelizing deep neural networks using MPI and GPU computing. Project "
    "report, "
    "GITAM, October 2022";

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

/// What a listing prints per iteration on its rank 0, in seconds; ranges where it does. No number: not printed.
struct Range {
  double low, high;
};
struct Listing {
  const char* name;
  Range scatter, hidden, output, forward, back, gather, iteration;
  double total;  // of the 60 iterations
};
inline constexpr Range kNotPrinted{-1, -1};
inline constexpr std::array<Listing, 2> kListings = {{{.name = "called GPU mode",
                                                       .scatter = {1.7e-3, 1.7e-3},
                                                       .hidden = {17.5e-3, 17.5e-3},
                                                       .output = {5.0e-3, 5.0e-3},
                                                       .forward = {0.139, 0.139},
                                                       .back = {0.95, 0.95},
                                                       .gather = {0.02e-3, 0.3e-3},
                                                       .iteration = {1.10, 1.16},
                                                       .total = 68},
                                                      {.name = "called parallel",
                                                       .scatter = kNotPrinted,
                                                       .hidden = {17e-3, 17e-3},
                                                       .output = {5e-3, 5e-3},
                                                       .forward = {0.14, 0.14},
                                                       .back = {0.66, 0.73},
                                                       .gather = kNotPrinted,
                                                       .iteration = {0.83, 0.90},
                                                       .total = 50}}};
inline constexpr double kClaim = 0.30;  // "about 30 % faster in parallel"

/// Notes of the program's first author (2016): the share classified right at rate 2.0 after so many iterations.
inline constexpr double kFastRate = 2.0;
struct Fast {
  int iterations;
  double precision;
};
inline constexpr std::array<Fast, 4> kFast = {{{50, 0.82}, {100, 0.87}, {200, 0.93}, {300, 0.94}}};

// A rerun of the published program: seconds per iteration on one core of a server of 2026.
inline constexpr double kRerunIteration = 0.29;

}  // namespace lockstep::cli::digits_published
