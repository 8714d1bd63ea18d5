#pragma once
// Strong and weak scaling of a climb: laws fitted to the times, the prediction from the spans beside them.

#include <vector>

#include "cli/ladder/climb.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

class ScalingStudy {
 public:
  /// `common` is what all results share. Both must outlive it.
  ScalingStudy(const Climb& climb, const Result& common) : climb_(climb), common_(common) {}

  void add_to(std::vector<Result>& results) const;

 private:
  std::vector<ScalingPoint> points(RungGroup group) const;
  /// The share of one thread's time that no other thread can take over, from the spans of one thread.
  std::optional<double> predicted_serial() const;
  void add_measured(const char* of, const std::vector<ScalingPoint>& points, std::vector<Result>& results) const;
  /// `samples`: of the point with fewest. A fit that cannot be is named as not usable.
  void add_fit(const char* of, std::optional<LawFit> fit, std::int64_t samples, std::vector<Result>& results) const;

  /// Says that there are too few points for a law.
  void add_unfitted(const char* of, const char* law, std::size_t points, std::size_t needed,
                    std::vector<Result>& results) const;

  const Climb& climb_;
  const Result& common_;
};

}  // namespace lockstep::cli
