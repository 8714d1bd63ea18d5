#include "lockstep/model/inference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/nn/inference_group.hpp"

namespace lockstep {

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
    throw Error(ExitCode::usage,
                fmt::format("threads = {} must be from 1 to {}, or 0 for auto", options.threads, kMaxThreads));
  if (options.threads == 0) options.threads = default_threads();
  if (on_device(options.backend)) options.threads = 1;  // that launches
  return options;
}

}  // namespace

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
  for (int i = 0; i < options_.threads; ++i) seats_.push_back(std::make_unique<Seat>());
  if (device_ == nullptr) return;
  seats_[0]->context = KernelContext(device_.get());
  weights_ = AlignedBuffer<T>(std::max<std::int64_t>(network.parameter_count(), 1), *device_);
  device_->to_device(weights_.data(), network.data<T>(), network.parameter_count() * std::int64_t{sizeof(T)});
}

/// Reserves memory for `samples` samples. Returns the place of the input.
template <class T>
Matrix<T> Inference<T>::reserve(Seat& seat, std::int64_t samples) const {
  const std::int64_t inputs = network_.input().elements();
  if (samples > seat.samples) {
    seat.samples = samples;
    seat.input = AlignedBuffer<T>(inputs * padded(samples));
    seat.memory = layers_.make_memory(samples, 0, seat.context.memory());
    if (device_ != nullptr) {
      seat.device_input = AlignedBuffer<T>(seat.input.size(), *device_);
      seat.output = AlignedBuffer<T>(network_.output().elements() * padded(samples));
    } else if (&seat == seats_[0].get()) {
      layers_.prepare(network_.data<T>(), seat.memory);  // who gets the few samples
    }
  }
  return {seat.input.data(), inputs, samples, padded(samples)};
}

template <class T>
Pass<T> Inference<T>::pass_of(Seat& seat) const {
  return {.kernels = kernels_,
          .context = seat.context,
          .parameters = device_ != nullptr ? weights_.data() : network_.data<T>()};
}

/// The samples [first, last) through the whole network, block by block.
template <class T>
void Inference<T>::run_blocks(Seat& seat, const Feed<T>& feed, std::int64_t first, std::int64_t last) {
  for (; first < last; first += most_samples_) {
    const std::int64_t samples = std::min(most_samples_, last - first);
    if (device_ != nullptr) {
      run_on_device(seat, feed, first, samples);
      continue;
    }
    const ConstMatrix<T> x = feed.load(first, reserve(seat, samples));
    seat.memory.output = feed.output(first);
    feed.store(first, layers_.forward(pass_of(seat), x, seat.memory));
  }
}

/// Inputs go down, outputs come up.
template <class T>
void Inference<T>::run_on_device(Seat& seat, const Feed<T>& feed, std::int64_t first, std::int64_t samples) {
  const auto bytes = [](ConstMatrix<T> m) {
    return ((m.rows - 1) * m.stride + m.cols) * static_cast<std::int64_t>(sizeof(T));
  };
  ConstMatrix<T> x = feed.load(first, reserve(seat, samples));
  device_->to_device(seat.device_input.data(), x.data, bytes(x));
  x.data = seat.device_input.data();
  ConstMatrix<T> y = layers_.forward(pass_of(seat), x, seat.memory);
  device_->to_host(seat.output.data(), y.data, bytes(y));
  y.data = seat.output.data();
  feed.store(first, y);
}

/// All members carry the same samples, each its share of the channels.
template <class T>
void Inference<T>::run_together(const Feed<T>& feed, std::int64_t count) {
  Seat& shared = *seats_[0];
  for (std::int64_t first = 0; first < count; first += most_samples_) {
    const std::int64_t samples = std::min(most_samples_, count - first);
    const Call call = {feed, count, feed.load(first, reserve(shared, samples))};
    shared.memory.output = feed.output(first);
    layers_.place(shared.memory, samples);
    team_.run([this, &call](const Member& member) {
      const TeamGroup group(member);
      Pass<T> pass = pass_of(*seats_[static_cast<std::size_t>(member.index)]);
      pass.group = &group;
      layers_.forward(pass, call.x, seats_[0]->memory);
    });
    feed.store(first, layers_.empty() ? call.x : shared.memory.layers.back().y);
  }
}

template <class T>
void Inference<T>::run(const Feed<T>& feed, std::int64_t count) {
  static_cast<void>(network_.values());  // initial weights are drawn when they are first asked for: not by two members
  const Cost cost = layers_.forward_cost(count);
  if (team_.size() == 1 || cost.flops + cost.bytes < kWorthATeam) return run_blocks(*seats_[0], feed, 0, count);
  if (count < kLanes * team_.size() || most_samples_ < kLanes) return run_together(feed, count);
  const Call call = {feed, count};
  team_.run([this, &call](const Member& member) {
    const std::int64_t units = (call.count + kLanes - 1) / kLanes;  // of whole lanes
    const auto begin = [&](int m) { return std::min(call.count, member.share(units, m) * kLanes); };
    run_blocks(*seats_[static_cast<std::size_t>(member.index)], call.feed, begin(member.index),
               begin(member.index + 1));
  });
}

template <class T>
template <class S>
void Inference<T>::run_span(std::span<const S> x, std::span<S> y) {
  const std::int64_t inputs = network_.input().elements(), outputs = network_.output().elements();
  const auto count = static_cast<std::int64_t>(x.size()) / inputs;
  if (count * inputs != static_cast<std::int64_t>(x.size()) || count * outputs != static_cast<std::int64_t>(y.size()))
    throw Error(ExitCode::usage, fmt::format("predict: {} inputs and {} outputs given, but a sample has {} and {}",
                                             x.size(), y.size(), inputs, outputs));
  if constexpr (std::is_same_v<S, T>)
    run(SpanFeed<T>(x.data(), inputs, y.data(), outputs), count);
  else
    throw Error(ExitCode::usage, fmt::format("predict: the network computes in {}", to_string(network_.precision())));
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
  const std::int64_t outputs = network_.output().elements();
  std::vector<double> y(ids.size() * static_cast<std::size_t>(outputs));
  run(DataFeed<T>(data, ids, y, outputs), static_cast<std::int64_t>(ids.size()));
  return y;
}

template class Inference<float>;
template class Inference<double>;

}  // namespace lockstep
