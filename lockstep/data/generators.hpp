#pragma once
// Data sets made of random numbers: sample i is a pure function of (seed, i), the same bits on every machine.

#include <cstdint>

#include "lockstep/data/samples.hpp"

namespace lockstep {

/// Samples first .. first + count - 1: a test set is the stretch that follows the training set.
struct GeneratorConfig {
  std::int64_t first = 0, count = 0;
  std::uint64_t seed = 1;
  double noise = 0;           // deviation of the normal noise added to every coordinate, after labelling
  double factor = 0.5;        // circles: inner radius / outer radius
  std::int64_t classes = 3;   // blobs; copy: symbols
  std::int64_t features = 2;  // blobs
  std::int64_t steps = 50;    // adding, copy
};

/// Points uniform in [-1,1)^2. Label 0 in quadrants 1 and 3 (both coordinates >= 0 or both < 0), else 1.
Samples make_quadrants(const GeneratorConfig& config);

/// Two half circles: label 0 at (cos t, sin t), label 1 at (1 - cos t, 1/2 - sin t), t uniform in [0, pi).
/// Sample i has label i mod 2.
Samples make_moons(const GeneratorConfig& config);

/// Two circles around the origin: label 0 with radius 1, label 1 with radius `factor`. Sample i has label i mod 2.
Samples make_circles(const GeneratorConfig& config);

/// Normal clouds of deviation `noise` around `classes` centres, which are uniform in [-10,10)^features.
/// Sample i has label i mod classes.
Samples make_blobs(const GeneratorConfig& config);

/// The adding problem: sequences [2, steps]. Feature 0 is uniform in [0, 1); feature 1 is 1 at one step of the first
/// half and at one of the second, else 0. The real target is the sum of the two numbers marked. At least 2 steps.
Samples make_adding(const GeneratorConfig& config);

/// The copy task: tokens [steps] with a class for every step. Token 0 is a blank, 1 the signal to recall, 2 and above
/// are `classes` symbols. A sample begins with n = min(10, steps / 3) symbols, uniform, and has the signal n + 1 steps
/// before its end; all else is blank. The targets of the last n steps are the symbols, in their order; those before are
/// blanks. At least 3 steps.
Samples make_copy(const GeneratorConfig& config);

}  // namespace lockstep
