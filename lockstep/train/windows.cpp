#include "lockstep/train/windows.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// Whether an output of the layer depends on no later step, and on earlier ones through its state alone.
bool goes_step_by_step(const LayerSpec& layer) {
  return std::visit(
      [](const auto& kind) {
        using Kind = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, Lstm> || std::is_same_v<Kind, Gru> || std::is_same_v<Kind, Rnn>)
          return kind.all_steps && !kind.bidirectional;
        else if constexpr (std::is_same_v<Kind, Linear> || std::is_same_v<Kind, LayerNorm>)
          return kind.per_step;
        else
          return std::is_same_v<Kind, Embedding> || std::is_same_v<Kind, Dropout> || std::is_same_v<Kind, Relu> ||
                 std::is_same_v<Kind, LeakyRelu> || std::is_same_v<Kind, Tanh> || std::is_same_v<Kind, AbsTanh> ||
                 std::is_same_v<Kind, Sigmoid> || std::is_same_v<Kind, Gelu> || std::is_same_v<Kind, Residual>;
      },
      layer.kind);
}

struct Rows {
  std::int64_t first, count;
};

/// Of the layers of a stage.
std::vector<Rows> rows_of_states(const Stage& stage) {
  std::vector<Rows> all;
  for_each_layer(stage.plans, [&](const LayerPlan& plan) {
    if (std::holds_alternative<Flatten>(plan.spec.kind)) return;
    if (const std::int64_t rows = make_layer<float>(plan)->state_rows(); rows > 0) all.push_back({plan.state, rows});
  });
  return all;
}

}  // namespace

Network window_of(const Network& network, std::int64_t steps) {
  for_each_layer(network.plans(), [&](const LayerPlan& plan) {
    if (!goes_step_by_step(plan.spec))
      throw Error(ErrorCode::usage,
                  fmt::format("train.truncate: layer {} ({}) needs whole sequences; it takes embedding, lstm, gru and "
                              "rnn in one direction with all_steps, linear and layer_norm with per_step, activations, "
                              "dropout and residual blocks of them",
                              plan.path, layer_type(plan.spec)));
  });
  std::vector<std::int64_t> extents(network.input().extents().begin(), network.input().extents().end());
  extents.back() = steps;
  Network window(Shape(extents), network.precision());
  for (const LayerSpec& layer : network.layers()) window.add(layer);
  return window;
}

template <class T>
void CarriedState<T>::prepare(std::int64_t rows, std::int64_t batch) {
  const std::int64_t stride = padded(batch);
  if (rows == 0 || (rows == rows_ && stride == stride_)) return;
  rows_ = rows;
  stride_ = stride;
  window_ = 0;
  for (AlignedBuffer<T>& matrix : matrices_) matrix = AlignedBuffer<T>(rows * stride, *where_);
}

template <class T>
ConstMatrix<T> CarriedState<T>::before(const Batch& batch, std::int64_t first, std::int64_t count) const {
  if (rows_ == 0 || batch.window == 0) return {};
  return {matrices_[batch.window % 2].data() + first, rows_, count, stride_};
}

template <class T>
Matrix<T> CarriedState<T>::after(const Batch& batch, std::int64_t first, std::int64_t count) {
  if (rows_ == 0 || !batch.goes_on()) return {};
  return {matrices_[(batch.window + 1) % 2].data() + first, rows_, count, stride_};
}

template <class T>
void CarriedState<T>::finish(const Batch& batch) {
  window_ = batch.goes_on() ? batch.window + 1 : 0;
  samples_ = batch.size();
}

template <class T>
T* CarriedState<T>::resume(std::int64_t window, std::int64_t samples) {
  window_ = window;
  samples_ = samples;
  return matrices_[window % 2].data();
}

template <class T>
AlignedBuffer<T> collect_carried(TrainingSetup& setup, const T* own, std::int64_t stride, std::int64_t samples,
                                 std::int64_t slots) {
  const std::vector<std::int64_t> bounds = cut_into_slots(samples, slots);
  const auto parts = static_cast<int>(setup.parts.size());
  // visit(row, first column, columns) for every row that a rank has, in one order.
  const auto for_rows_of = [&](int rank, const auto& visit) {
    const Ranks& replicas = setup.grid.replicas();
    const auto bound = [&](int replica) { return bounds[static_cast<std::size_t>(replicas.share(slots, replica))]; };
    const std::int64_t first = bound(rank / parts), columns = bound(rank / parts + 1) - first;
    for (const Rows& rows : rows_of_states(setup.parts[static_cast<std::size_t>(rank % parts)]))
      for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) visit(row, first, columns);
  };
  std::string text;
  for_rows_of(setup.ranks.rank(), [&](std::int64_t row, std::int64_t first, std::int64_t columns) {
    text.append(reinterpret_cast<const char*>(own + row * stride + first),
                static_cast<std::size_t>(columns) * sizeof(T));
  });
  const std::vector<std::string> all = setup.ranks.all_gather(text, "state");
  AlignedBuffer<T> dense(setup.state_rows * samples);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const char* from = all[rank].data();
    for_rows_of(static_cast<int>(rank), [&](std::int64_t row, std::int64_t first, std::int64_t columns) {
      const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(T);
      if (bytes > 0) std::memcpy(dense.data() + row * samples + first, from, bytes);
      from += bytes;
    });
  }
  return dense;
}

template <class T>
AlignedBuffer<T> spread_carried(const AlignedBuffer<T>& dense, std::int64_t rows, std::int64_t samples,
                                std::int64_t stride) {
  if (dense.size() != rows * samples)
    throw Error(ErrorCode::checkpoint,
                fmt::format("the states between two windows are {} numbers, {} of {} samples are needed: the state "
                            "belongs to another network or to other data",
                            dense.size(), rows * samples, samples));
  AlignedBuffer<T> wide(rows * stride);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(dense.data() + row * samples, samples, wide.data() + row * stride);
  return wide;
}

template class CarriedState<float>;
template class CarriedState<double>;
template AlignedBuffer<float> collect_carried(TrainingSetup&, const float*, std::int64_t, std::int64_t, std::int64_t);
template AlignedBuffer<double> collect_carried(TrainingSetup&, const double*, std::int64_t, std::int64_t, std::int64_t);
template AlignedBuffer<float> spread_carried(const AlignedBuffer<float>&, std::int64_t, std::int64_t, std::int64_t);
template AlignedBuffer<double> spread_carried(const AlignedBuffer<double>&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace lockstep
