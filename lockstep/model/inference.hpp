#pragma once
// The engine behind Predictor.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/model/predictor.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

/// The predictor behind its precision.
class InferenceEngine {
 public:
  virtual ~InferenceEngine() = default;
  virtual void run(std::span<const float> x, std::span<float> y) = 0;
  virtual void run(std::span<const double> x, std::span<double> y) = 0;
  virtual std::vector<double> run(const Dataset& data, std::span<const std::int64_t> ids) = 0;
  virtual const PredictOptions& options() const = 0;
};

/// Where the samples of a call come from and where its outputs go. Members call it at the same time, for different
/// samples.
template <class T>
class Feed {
 public:
  virtual ~Feed() = default;
  /// The samples [first, first + room.cols) as the columns of a matrix: in `room`, or where they lie already.
  virtual ConstMatrix<T> load(std::int64_t first, Matrix<T> room) const = 0;
  /// Where the outputs of a single sample may be written right away; null: nowhere.
  virtual T* output(std::int64_t /*sample*/) const { return nullptr; }
  virtual void store(std::int64_t first, ConstMatrix<T> y) const = 0;
};

template <class T>
class Inference final : public InferenceEngine {
 public:
  Inference(const Network& network, const PredictOptions& options);

  void run(std::span<const float> x, std::span<float> y) override;
  void run(std::span<const double> x, std::span<double> y) override;
  std::vector<double> run(const Dataset& data, std::span<const std::int64_t> ids) override;
  const PredictOptions& options() const override { return options_; }

 private:
  /// What one member of the team owns. An inference group works in the seat of its first member.
  struct Seat {
    KernelContext context;
    std::int64_t samples = 0;  // what the memory is for
    SequenceMemory<T> memory;
    AlignedBuffer<T> input;
    AlignedBuffer<T> output, device_input;  // where the kernels run on a device: the outputs on the host, x on it
  };
  /// A call as all members see it.
  struct Call {
    const Feed<T>& feed;
    std::int64_t count;
    ConstMatrix<T> x{};  // of an inference group
  };

  template <class S>
  void run_span(std::span<const S> x, std::span<S> y);
  void run(const Feed<T>& feed, std::int64_t count);
  void run_blocks(Seat& seat, const Feed<T>& feed, std::int64_t first, std::int64_t last);
  void run_on_device(Seat& seat, const Feed<T>& feed, std::int64_t first, std::int64_t samples);
  void run_together(const Feed<T>& feed, std::int64_t count);
  Matrix<T> reserve(Seat& seat, std::int64_t samples) const;
  Pass<T> pass_of(Seat& seat) const;

  const Network& network_;
  PredictOptions options_;
  Sequence<T> layers_;
  KernelTable<T> kernels_;
  std::int64_t most_samples_;       // that go through the network at one time
  std::shared_ptr<Device> device_;  // null: kernels run on the host
  AlignedBuffer<T> weights_;        // on the device
  Team team_;
  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace lockstep
