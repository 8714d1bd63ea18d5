#pragma once
// Laws of scaling, fitted to measured times. A speed-up is the median time of one worker over that of p workers; bands
// come from drawing the samples of every point again (bootstrap, 95 %). No law is fitted through fewer points than it
// has parameters, the time of one worker counted as one.

#include <optional>
#include <vector>

namespace lockstep {

struct ScalingPoint {
  double workers = 1;
  std::vector<double> samples{};  // seconds: of the same work (strong), of work that grows with the workers (weak)
};

struct FittedValue {
  double value = 0, low = 0, high = 0;
};

/// `measured`: the points themselves; `none`: too few points for a law, or no usable one.
enum class ScalingLaw { measured, amdahl, usl, gustafson, none };

struct LawFit {
  ScalingLaw law = ScalingLaw::none;
  std::optional<FittedValue> serial{};                      // of Amdahl's and Gustafson's law
  std::optional<FittedValue> contention{}, coherence{};     // of the universal scalability law
  std::vector<double> workers{}, speedup{}, low{}, high{};  // the curve and its band, at 1 ... `to` workers
  bool exact = false;  // as many points as parameters: it passes through them, and proves nothing
};

/// 1/S = s + (1-s)/p, least squares in s over the points with p > 1. Strong scaling, 2 points or more with one of p
/// = 1.
std::optional<LawFit> fit_amdahl(const std::vector<ScalingPoint>& points, double to);
/// p/S = 1 + contention (p-1) + coherence p (p-1): Gunther's universal scalability law. 3 points or more.
std::optional<LawFit> fit_usl(const std::vector<ScalingPoint>& points, double to);
/// S = p - s (p-1), where S = p T(1) / T(p) and the work grows with p. Weak scaling, 2 points or more.
std::optional<LawFit> fit_gustafson(const std::vector<ScalingPoint>& points, double to);

/// 1 / (serial + (1 - serial) / workers)
double amdahl_speedup(double serial, double workers);

/// The experimentally determined serial share: (1/S - 1/p) / (1 - 1/p); p above 1.
double karp_flatt(double speedup, double workers);

/// Can a fitted value be a share of the work? Not where its whole interval lies outside 0 ... 1 (by more than 0.05,
/// which caches bring), or the value itself by more than 0.25.
bool is_share(const FittedValue& fitted);
/// The same of an efficiency, or of what a part gains as a share of the workers: far above 1 it is a fault of
/// measuring.
bool is_efficiency(double share);
/// Shown instead of a value that cannot be right.
inline constexpr const char* kNotUsable = "not usable";
inline constexpr const char* kWhyNotUsable = "the machine was busy, or the work is too little to share";

/// Do a predicted value and a fitted one disagree: does it lie outside the fit's interval, and by more than `slack`?
bool disagrees(double predicted, const FittedValue& fitted, double slack = 0.01);

}  // namespace lockstep
