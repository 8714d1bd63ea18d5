#pragma once
// What `lockstep bench` measures: every kernel of the example networks, at the shapes in which training calls it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/problem.hpp"
#include "lockstep/kernels/cost.hpp"

namespace lockstep::cli {

struct BenchCase {
  std::string kernel;  // "conv2d_forward"
  std::string shape;   // "[1,28,28] -> [6,28,28], 5x5"
  Cost cost{};
  std::function<std::unique_ptr<BenchProblem>(Device*)> make;  // there; null: on the host
  /// A part of the same problem, whose rate stands for the whole where a backend would take too long.
  std::shared_ptr<const BenchCase> part{};
};

struct BenchGroup {
  std::string name;   // "lenet5"
  std::string title;  // "LeNet-5, batch 64: chunks of 16 samples"
  Precision precision = Precision::float32;
  std::vector<BenchCase> cases;
};

/// The groups that contain the word: in their own name (then whole) or in the names of their kernels. An empty word
/// gives all. Error(usage) with the names there are when nothing contains it. Of each batch a problem has the chunk
/// that a thread takes, or, as devices do, all of it.
std::vector<BenchGroup> bench_groups(const std::string& word, bool whole_batches);

}  // namespace lockstep::cli
