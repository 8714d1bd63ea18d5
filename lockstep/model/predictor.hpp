#pragma once
// A trained network in use: outputs for given samples, on all threads, as soon as possible.
//
//   Predictor predictor(net, {.threads = 2});
//   predictor.run(pixels, outputs);   // again and again: nothing is allocated once a call was as large
//
//   const Model model = load_model("model.safetensors");   // model_file.hpp
//   Predictor of_file(model);                               // takes raw samples, as the source of training held them
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
struct Model;

/// How raw samples become the inputs of a network (preparation.hpp).
class RawSamples {
 public:
  virtual ~RawSamples() = default;
  /// The samples, one after another, as a data set of inputs.
  virtual std::shared_ptr<const Dataset> prepare(std::span<const float> x) const = 0;
  virtual std::shared_ptr<const Dataset> prepare(std::span<const double> x) const = 0;
};

class Predictor {
 public:
  /// `network` must outlive the predictor, and its weights must stay as they are.
  explicit Predictor(const Network& network, PredictOptions options = {});
  /// A model with the preparation of its inputs: run(x, y) then takes raw numbers, of whole samples as the source of
  /// training held them (bytes as 0 to 255, images before resizing), and gives them the shape, size and scale of
  /// training. `model` must outlive the predictor.
  explicit Predictor(const Model& model, PredictOptions options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Runs the whole network forward in inference mode: y [samples][outputs] for x [samples][inputs], row-major; they
  /// must not overlap. The scalar must be the network's precision (for a model: any), and the sizes must fit together;
  /// else Error(usage).
  void run(std::span<const float> x, std::span<float> y);
  void run(std::span<const double> x, std::span<double> y);

  /// The same for samples of a data set, in any precision; for a model they are prepared already (load_data_for).
  std::vector<double> run(const Dataset& data, std::span<const std::int64_t> ids);

  const PredictOptions& options() const;

 private:
  template <class T>
  void run_span(std::span<const T> x, std::span<T> y);

  std::unique_ptr<InferenceEngine> engine_;
  std::unique_ptr<const RawSamples> raw_;  // null: x are inputs already
};

}  // namespace lockstep
