#pragma once
// A trained network in use: outputs for given samples, on all threads, as soon as possible.
//
//   Predictor predictor(net, {.threads = 2});
//   predictor.run(pixels, outputs);   // again and again: nothing is allocated once a call was as large
//
// The outputs are the same bits for any backend under the promise, any number of threads, and any number of samples in
// a call. How members share the work: docs/design/0004-inference.md.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

struct PredictOptions {
  Backend backend = Backend::simd;
  int threads = 0;  // 0: OMP_NUM_THREADS, else as many as this process may use. Changes the time, never the result
};

class InferenceEngine;

class Predictor {
 public:
  /// `network` must outlive the predictor, and its weights must stay as they are.
  explicit Predictor(const Network& network, PredictOptions options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Runs the whole network forward in inference mode: y [samples][outputs] for x [samples][inputs], row-major; they
  /// must not overlap. The scalar must be the network's precision, and the sizes must fit together; else Error(usage).
  void run(std::span<const float> x, std::span<float> y);
  void run(std::span<const double> x, std::span<double> y);

  /// The same for samples of a data set, in any precision.
  std::vector<double> run(const Dataset& data, std::span<const std::int64_t> ids);

  const PredictOptions& options() const;

 private:
  std::unique_ptr<InferenceEngine> engine_;
};

}  // namespace lockstep
