#include "lockstep/model/predictor.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/tokens.hpp"
#include "lockstep/train/trainer.hpp"

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

namespace {

constexpr std::int64_t kMostSamples = 64;
/// What the activations of one member may take; pictures of millions of pixels go through the network one by one.
constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

/// Operations and bytes of a call below which a team would not help: about twenty microseconds of one thread. Starting
/// a team takes a few of them, and much longer where another program has the core.
constexpr double kWorthATeam = 2e6;

class TeamGroup final : public InferenceGroup {
 public:
  explicit TeamGroup(const Member& member) : InferenceGroup(member.index, member.size), barrier_(member.barrier) {}
  void meet() const override { barrier_.wait(); }

 private:
  Barrier& barrier_;
};

/// Where the samples of a call come from and where its outputs go. Members call it at the same time, for different
/// samples.
template <class T>
class Feed {
 public:
  virtual ~Feed() = default;
  /// The samples [first, first + room.cols) as the columns of a matrix: in `room`, or where they lie already.
  virtual ConstMatrix<T> load(std::int64_t first, Matrix<T> room) const = 0;
  /// The lengths of sequences [first, first + out.size()); false: all have all steps.
  virtual bool lengths(std::int64_t /*first*/, std::span<std::int64_t> /*out*/) const { return false; }
  /// Where the outputs of a single sample may be written right away; null: nowhere.
  virtual T* output(std::int64_t /*sample*/) const { return nullptr; }
  virtual void store(std::int64_t first, ConstMatrix<T> y) const = 0;
};

/// Rows of the caller's memory.
template <class T>
class SpanFeed final : public Feed<T> {
 public:
  SpanFeed(const T* x, std::int64_t inputs, T* y, std::int64_t outputs)
      : x_(x), y_(y), inputs_(inputs), outputs_(outputs) {}

  ConstMatrix<T> load(std::int64_t first, Matrix<T> room) const override {
    const T* from = x_ + first * inputs_;
    if (room.cols == 1) return {from, inputs_, 1, 1};
    for (std::int64_t i = 0; i < inputs_; ++i)
      for (std::int64_t s = 0; s < room.cols; ++s) room(i, s) = from[s * inputs_ + i];
    return room;
  }
  T* output(std::int64_t sample) const override { return y_ + sample * outputs_; }
  void store(std::int64_t first, ConstMatrix<T> y) const override {
    if (y.data == output(first)) return;
    for (std::int64_t s = 0; s < y.cols; ++s)
      for (std::int64_t k = 0; k < outputs_; ++k) y_[(first + s) * outputs_ + k] = y(k, s);
  }

 private:
  const T* x_;
  T* y_;
  std::int64_t inputs_, outputs_;
};

template <class T>
class DataFeed final : public Feed<T> {
 public:
  DataFeed(const Dataset& data, std::span<const std::int64_t> ids, std::vector<double>& y, std::int64_t outputs)
      : data_(data), ids_(ids), y_(y), outputs_(outputs) {}

  ConstMatrix<T> load(std::int64_t first, Matrix<T> room) const override {
    data_.gather(ids_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(room.cols)), room);
    return room;
  }
  bool lengths(std::int64_t first, std::span<std::int64_t> out) const override {
    if (data_.has_lengths()) data_.lengths(ids_.subspan(static_cast<std::size_t>(first), out.size()), out);
    return data_.has_lengths();
  }
  void store(std::int64_t first, ConstMatrix<T> y) const override {
    for (std::int64_t s = 0; s < y.cols; ++s)
      for (std::int64_t k = 0; k < outputs_; ++k)
        y_[static_cast<std::size_t>((first + s) * outputs_ + k)] = static_cast<double>(y(k, s));
  }

 private:
  const Dataset& data_;
  std::span<const std::int64_t> ids_;
  std::vector<double>& y_;
  std::int64_t outputs_;
};

PredictOptions checked(PredictOptions options) {
  if (options.threads < 0 || options.threads > kMaxThreads)
    throw Error(ErrorCode::usage,
                fmt::format("threads = {} must be from 1 to {}, or 0 for auto", options.threads, kMaxThreads));
  if (options.threads == 0) options.threads = default_threads();
  if (on_device(options.backend)) options.threads = 1;  // that launches
  return options;
}

template <class T>
class Inference final : public InferenceEngine {
 public:
  Inference(const Network& network, const PredictOptions& options);

  void run(std::span<const float> x, std::span<float> y) override;
  void run(std::span<const double> x, std::span<double> y) override;
  std::vector<double> run(const Dataset& data, std::span<const std::int64_t> ids) override;
  const PredictOptions& options() const override { return options_; }

 private:
  /// What one thread of the team owns. An inference group works in the memory of its first thread.
  struct ThreadState {
    KernelContext context;
    std::int64_t samples = 0;  // what the memory is for
    SequenceMemory<T> memory;
    AlignedBuffer<T> input;
    std::vector<std::int64_t> lengths;  // of sequences, on the host
    AlignedBuffer<std::int64_t> device_lengths;
    AlignedBuffer<T> output, device_input;  // where the kernels run on a device: the outputs on the host, x on it
  };
  /// A call as all members see it.
  struct Call {
    const Feed<T>& feed;
    std::int64_t count;
    ConstMatrix<T> x{};  // of an inference group
    const std::int64_t* lengths = nullptr;
  };

  template <class S>
  void run_span(std::span<const S> x, std::span<S> y);
  void run(const Feed<T>& feed, std::int64_t count);
  void run_blocks(ThreadState& state, const Feed<T>& feed, std::int64_t first, std::int64_t last);
  void run_on_device(ThreadState& state, const Feed<T>& feed, std::int64_t first, std::int64_t samples);
  void run_together(const Feed<T>& feed, std::int64_t count);
  Matrix<T> reserve(ThreadState& state, std::int64_t samples) const;
  Pass<T> pass_of(ThreadState& state, const std::int64_t* lengths) const;
  const std::int64_t* lengths_of(ThreadState& state, const Feed<T>& feed, std::int64_t first,
                                 std::int64_t samples) const;

  const Network& network_;
  PredictOptions options_;
  Sequence<T> layers_;
  KernelTable<T> kernels_;
  std::int64_t most_samples_;       // that go through the network at one time
  std::shared_ptr<Device> device_;  // null: kernels run on the host
  AlignedBuffer<T> weights_;        // on the device
  Team team_;
  std::vector<std::unique_ptr<ThreadState>> states_;
};

template <class T>
Inference<T>::Inference(const Network& network, const PredictOptions& options)
    : network_(network),
      options_(checked(options)),
      layers_(network.plans()),
      kernels_(make_table<T>(options.backend)),
      most_samples_(std::clamp<std::int64_t>(
          kMostBytes / (layers_.activation_elements() * static_cast<std::int64_t>(sizeof(T))), 1, kMostSamples)),
      device_(on_device(options.backend) ? open_device(options.backend) : nullptr),
      team_(options_.threads) {
  if (most_samples_ > kLanes) most_samples_ -= most_samples_ % kLanes;
  for (int i = 0; i < options_.threads; ++i) states_.push_back(std::make_unique<ThreadState>());
  if (device_ == nullptr) return;
  states_[0]->context = KernelContext(device_.get());
  weights_ = AlignedBuffer<T>(std::max<std::int64_t>(network.parameter_count(), 1), *device_);
  device_->to_device(weights_.data(), network.data<T>(), network.parameter_count() * std::int64_t{sizeof(T)});
}

/// Reserves memory for `samples` samples. Returns the place of the input.
template <class T>
Matrix<T> Inference<T>::reserve(ThreadState& state, std::int64_t samples) const {
  const std::int64_t inputs = network_.input().elements();
  if (samples > state.samples) {
    state.samples = samples;
    state.input = AlignedBuffer<T>(inputs * padded(samples));
    state.memory = layers_.make_memory(samples, 0, state.context.memory());
    if (device_ != nullptr) {
      state.device_input = AlignedBuffer<T>(state.input.size(), *device_);
      state.output = AlignedBuffer<T>(network_.output().elements() * padded(samples));
    } else if (&state == states_[0].get()) {
      layers_.prepare(network_.data<T>(), state.memory);  // the thread that computes a few samples alone
    }
  }
  return {state.input.data(), inputs, samples, padded(samples)};
}

template <class T>
Pass<T> Inference<T>::pass_of(ThreadState& state, const std::int64_t* lengths) const {
  return {.kernels = kernels_,
          .context = state.context,
          .parameters = device_ != nullptr ? weights_.data() : network_.data<T>(),
          .lengths = lengths};
}

/// The lengths of these samples where the kernels work; null: all have all steps.
template <class T>
const std::int64_t* Inference<T>::lengths_of(ThreadState& state, const Feed<T>& feed, std::int64_t first,
                                             std::int64_t samples) const {
  state.lengths.resize(static_cast<std::size_t>(samples));
  if (!feed.lengths(first, state.lengths)) return nullptr;
  if (device_ == nullptr) return state.lengths.data();
  if (state.device_lengths.size() < samples) state.device_lengths = AlignedBuffer<std::int64_t>(samples, *device_);
  device_->to_device(state.device_lengths.data(), state.lengths.data(), samples * std::int64_t{sizeof(std::int64_t)});
  return state.device_lengths.data();
}

/// The samples [first, last) through the whole network, block by block.
template <class T>
void Inference<T>::run_blocks(ThreadState& state, const Feed<T>& feed, std::int64_t first, std::int64_t last) {
  for (; first < last; first += most_samples_) {
    const std::int64_t samples = std::min(most_samples_, last - first);
    if (device_ != nullptr) {
      run_on_device(state, feed, first, samples);
      continue;
    }
    const ConstMatrix<T> x = feed.load(first, reserve(state, samples));
    state.memory.output = feed.output(first);
    feed.store(first, layers_.forward(pass_of(state, lengths_of(state, feed, first, samples)), x, state.memory));
  }
}

/// Inputs go down, outputs come up.
template <class T>
void Inference<T>::run_on_device(ThreadState& state, const Feed<T>& feed, std::int64_t first, std::int64_t samples) {
  const auto bytes = [](ConstMatrix<T> m) {
    return ((m.rows - 1) * m.stride + m.cols) * static_cast<std::int64_t>(sizeof(T));
  };
  ConstMatrix<T> x = feed.load(first, reserve(state, samples));
  device_->to_device(state.device_input.data(), x.data, bytes(x));
  x.data = state.device_input.data();
  ConstMatrix<T> y = layers_.forward(pass_of(state, lengths_of(state, feed, first, samples)), x, state.memory);
  device_->to_host(state.output.data(), y.data, bytes(y));
  y.data = state.output.data();
  feed.store(first, y);
}

/// All members carry the same samples, each its share of the channels.
template <class T>
void Inference<T>::run_together(const Feed<T>& feed, std::int64_t count) {
  ThreadState& shared = *states_[0];
  for (std::int64_t first = 0; first < count; first += most_samples_) {
    const std::int64_t samples = std::min(most_samples_, count - first);
    const Call call = {feed, count, feed.load(first, reserve(shared, samples)),
                       lengths_of(shared, feed, first, samples)};
    shared.memory.output = feed.output(first);
    layers_.place(shared.memory, samples);
    team_.run([this, &call](const Member& member) {
      const TeamGroup group(member);
      Pass<T> pass = pass_of(*states_[static_cast<std::size_t>(member.index)], call.lengths);
      pass.group = &group;
      layers_.forward(pass, call.x, states_[0]->memory);
    });
    feed.store(first, layers_.empty() ? call.x : shared.memory.layers.back().y);
  }
}

template <class T>
void Inference<T>::run(const Feed<T>& feed, std::int64_t count) {
  static_cast<void>(network_.values());  // initial weights are drawn when they are first asked for: not by two members
  const Cost cost = layers_.forward_cost(count);
  if (team_.size() == 1 || cost.flops + cost.bytes < kWorthATeam) return run_blocks(*states_[0], feed, 0, count);
  if (count < kLanes * team_.size() || most_samples_ < kLanes) return run_together(feed, count);
  const Call call = {feed, count};
  team_.run([this, &call](const Member& member) {
    const std::int64_t units = (call.count + kLanes - 1) / kLanes;  // of whole lanes
    const auto begin = [&](int m) { return std::min(call.count, member.share(units, m) * kLanes); };
    run_blocks(*states_[static_cast<std::size_t>(member.index)], call.feed, begin(member.index),
               begin(member.index + 1));
  });
}

template <class T>
template <class S>
void Inference<T>::run_span(std::span<const S> x, std::span<S> y) {
  const std::int64_t inputs = network_.input().elements(), outputs = network_.output().elements();
  const auto count = static_cast<std::int64_t>(x.size()) / inputs;
  if (count * inputs != static_cast<std::int64_t>(x.size()) || count * outputs != static_cast<std::int64_t>(y.size()))
    throw Error(ErrorCode::usage, fmt::format("predict: {} inputs and {} outputs given, but a sample has {} and {}",
                                              x.size(), y.size(), inputs, outputs));
  if constexpr (std::is_same_v<S, T>)
    run(SpanFeed<T>(x.data(), inputs, y.data(), outputs), count);
  else
    throw Error(ErrorCode::usage, fmt::format("predict: the network computes in {}", to_string(network_.precision())));
}

template <class T>
void Inference<T>::run(std::span<const float> x, std::span<float> y) {
  run_span(x, y);
}
template <class T>
void Inference<T>::run(std::span<const double> x, std::span<double> y) {
  run_span(x, y);
}

template <class T>
std::vector<double> Inference<T>::run(const Dataset& data, std::span<const std::int64_t> ids) {
  check_input(network_.input(), data);
  check_tokens(network_, data, ids);
  const std::int64_t outputs = network_.output().elements();
  std::vector<double> y(ids.size() * static_cast<std::size_t>(outputs));
  run(DataFeed<T>(data, ids, y, outputs), static_cast<std::int64_t>(ids.size()));
  return y;
}

}  // namespace

Predictor::Predictor(const Network& network, PredictOptions options) {
  if (network.precision() == Precision::float32)
    engine_ = std::make_unique<Inference<float>>(network, options);
  else
    engine_ = std::make_unique<Inference<double>>(network, options);
}

Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

template <class T>
void Predictor::run_span(std::span<const T> x, std::span<T> y) {
  if (!raw_) return engine_->run(x, y);
  const std::shared_ptr<const Dataset> data = raw_->prepare(x);
  const std::vector<std::int64_t> ids = ids_from(0, data->size());
  const std::vector<double> outputs = engine_->run(*data, ids);
  if (outputs.size() != y.size())
    throw Error(ErrorCode::usage,
                fmt::format("predictor: {} samples have {} outputs, y holds {}", ids.size(), outputs.size(), y.size()));
  std::ranges::transform(outputs, y.begin(), [](double value) { return static_cast<T>(value); });
}

void Predictor::run(std::span<const float> x, std::span<float> y) { run_span(x, y); }
void Predictor::run(std::span<const double> x, std::span<double> y) { run_span(x, y); }
std::vector<double> Predictor::run(const Dataset& data, std::span<const std::int64_t> ids) {
  return engine_->run(data, ids);
}
const PredictOptions& Predictor::options() const { return engine_->options(); }

std::vector<double> predict(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                            Backend backend, int threads) {
  return Predictor(network, {.backend = backend, .threads = threads}).run(data, ids);
}

}  // namespace lockstep
