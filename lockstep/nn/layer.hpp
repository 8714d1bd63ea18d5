#pragma once
// Layers that run. A layer knows mathematics, not machines: it calls the kernels of whatever table the pass carries.
// Layers are immutable and shared by all workers; what a worker needs to remember between forward and backward is in
// its LayerMemory.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "lockstep/lab/recorder.hpp"
#include "lockstep/nn/crew.hpp"
#include "lockstep/nn/plan.hpp"

namespace lockstep {

/// Who wants to know how far backward has come.
class GradientWatch {
 public:
  virtual ~GradientWatch() = default;
  /// Elements of pass.gradients from `first` on are complete: called with ever smaller ones.
  virtual void complete_from(std::int64_t first) = 0;
};

/// What all layers share during one pass over a chunk of samples.
template <class T>
struct Pass {
  const KernelTable<T>& kernels;
  KernelContext& context;
  const T* parameters;         // the flat vector
  const T* columns = nullptr;  // the weights for data gradients, where layers are split (columns.hpp)
  T* gradients = nullptr;  // same layout; every trainable slice is overwritten by backward, and the slices of running
                           // statistics by forward in training, each with its sum over the chunk's slots
  bool training = false;
  Slots slots{};                               // of the chunk's columns; used in training only
  std::span<const std::int64_t> sample_ids{};  // one per column; used in training only
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  Recorder* recorder = nullptr;    // where the time goes; null: nobody asks
  GradientWatch* watch = nullptr;  // null: nobody wants to know
  const Crew* crew = nullptr;      // who computes this pass together, in inference; null: this thread alone
  Holders* holders = nullptr;      // the other members, where layers are split
};

template <class T>
struct SequenceMemory;

/// One worker's memory of one layer.
template <class T>
struct LayerMemory {
  AlignedBuffer<T> storage;                // of y; empty when y lies in the layer's input
  Matrix<T> y;                             // set by forward
  AlignedBuffer<T> saved;                  // what backward needs besides x and y
  AlignedBuffer<T> prepared;               // parameters in another order, for inference
  std::vector<SequenceMemory<T>> inner{};  // residual block: body, shortcut
};

/// From row to row of an activation. Rows are padded to whole virtual lanes, so that they start on cache lines; a few
/// samples lie densely, so that element-wise kernels see one long row.
constexpr std::int64_t padded(std::int64_t samples) {
  constexpr std::int64_t kFew = 4;
  return samples <= kFew ? samples : (samples + kLanes - 1) / kLanes * kLanes;
}

/// From row to row of transposed weights, for so many outputs: rows start on cache lines.
constexpr std::int64_t transposed_stride(std::int64_t outputs) { return (outputs + kLanes - 1) / kLanes * kLanes; }

/// Weights [outputs, elements] as [elements, outputs].
template <class T>
AlignedBuffer<T> transposed(ConstMatrix<T> weights) {
  const std::int64_t stride = transposed_stride(weights.rows);
  AlignedBuffer<T> result(weights.cols * stride);
  constexpr std::int64_t kBlock = 32;  // both sides of a block stay in L1
  for (std::int64_t first_o = 0; first_o < weights.rows; first_o += kBlock)
    for (std::int64_t first_i = 0; first_i < weights.cols; first_i += kBlock)
      for (std::int64_t o = first_o; o < std::min(weights.rows, first_o + kBlock); ++o)
        for (std::int64_t i = first_i; i < std::min(weights.cols, first_i + kBlock); ++i)
          result[i * stride + o] = weights(o, i);
  return result;
}

/// to = from, of the same rows, columns and stride, where the pass's kernels work.
template <class T>
void copy_rows(const Pass<T>& pass, ConstMatrix<T> from, Matrix<T> to) {
  if (from.rows == 0 || from.cols == 0) return;
  const std::int64_t elements = (from.rows - 1) * from.stride + from.cols;  // whole rows, and what pads them
  pass.context.memory().copy_within(reinterpret_cast<std::byte*>(to.data),
                                    reinterpret_cast<const std::byte*>(from.data),
                                    elements * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
class Layer {
 public:
  explicit Layer(const LayerPlan& plan) : plan_(plan) {}
  virtual ~Layer() = default;

  const LayerPlan& plan() const { return plan_; }
  /// Where layers are split, and there are fewer channels than members.
  bool holds_nothing() const { return held_channels().count == 0; }

  /// y may overwrite x: backward needs at most y.
  virtual bool in_place() const { return false; }
  /// Backward reads this layer's y, so the next layer must not overwrite it.
  virtual bool backward_reads_y() const { return false; }
  /// dx may overwrite dy.
  virtual bool backward_in_place() const { return in_place(); }

  virtual Sharing sharing() const = 0;
  /// Where layers are split: backward, with or without the data gradient, needs all of dy, not only this member's part.
  virtual bool backward_needs_all(bool data) const {
    return sharing() == Sharing::never || (data && sharing() == Sharing::from_all);
  }

  /// Sets up memory, where the kernels of the pass will work, for chunks of up to `samples` columns in `slots` slots
  /// (saved, inner; y is the caller's concern). Without slots: for inference only.
  virtual void reserve(LayerMemory<T>&, std::int64_t /*samples*/, std::int64_t /*slots*/, Memory&) const {}
  /// Sets the views of inner layers for chunks of `samples` columns.
  virtual void place(LayerMemory<T>&, std::int64_t /*samples*/) const {}
  /// Fills `prepared` with what makes forward faster; it holds as long as the parameters stay as they are.
  virtual void prepare(const T* /*parameters*/, LayerMemory<T>&) const {}

  /// Fills memory.y, whose view the caller has set: this member's channels of it where the pass has a crew, or where
  /// layers are split.
  virtual void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const = 0;

  /// Fills the layer's slices of pass.gradients, and dx unless it is empty: this member's part of it, where layers are
  /// split. x is what forward was given (y itself where the layer ran in place). dy may be destroyed. Where all of it
  /// is needed it may still be on its way: await_gradient() waits for it.
  virtual void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, Matrix<T> dy,
                        Matrix<T> dx) const = 0;

  /// Takes the batch's sums of running statistics into the parameters; `samples` is the size of the batch.
  virtual void update_statistics(const KernelTable<T>&, KernelContext&, T* /*parameters*/, const T* /*sums*/,
                                 std::int64_t /*samples*/) const {}

  virtual Cost forward_cost(std::int64_t samples) const = 0;
  /// With or without the data gradient.
  virtual Cost backward_cost(std::int64_t samples, bool data) const = 0;
  /// Without the layers inside this one, which have spans of their own.
  virtual Cost own_forward_cost(std::int64_t samples) const { return forward_cost(samples); }
  virtual Cost own_backward_cost(std::int64_t samples, bool data) const { return backward_cost(samples, data); }

 protected:
  /// The channels of y whose parameters are held: all of them, unless layers are split.
  Channels held_channels() const { return plan_.out_split.part(plan_.out[0], plan_.member); }
  /// The channels of y that this thread computes in a pass.
  Channels own_channels(const Pass<T>& pass) const {
    return pass.crew == nullptr ? held_channels() : pass.crew->share(plan_.out[0]);
  }
  /// This member's share of the work on y.
  double share_of_work() const { return double(held_channels().count) / double(plan_.out[0]); }
  /// Returns when all of dy is there, in a backward that needs it.
  void await_gradient(const Pass<T>& pass) const {
    if (pass.holders == nullptr) return;
    if (pass.recorder != nullptr) pass.recorder->close(backward_section(plan_.id));
    pass.holders->finish_gather();
    if (pass.recorder != nullptr) pass.recorder->close(kGatherSection);
  }
  /// The rows of these channels of x or y.
  template <class View>
  static View rows_of(const View& matrix, const Shape& shape, const Channels& channels) {
    const std::int64_t pixels = shape.elements() / shape[0];
    return matrix.rows_from(channels.first * pixels, channels.count * pixels);
  }

 private:
  LayerPlan plan_;
};

/// By the record's make(). Flatten has nothing to compute: sequences leave it out.
template <class T>
std::unique_ptr<Layer<T>> make_layer(const LayerPlan& plan) {
  return std::visit([&](const auto& layer) { return layer.template make<T>(plan); }, plan.spec.kind);
}

}  // namespace lockstep

// Every layer file ends with this: both scalars of its record's make().
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a record takes none
#define LOCKSTEP_INSTANTIATE_LAYER(record)                                                 \
  template std::unique_ptr<Layer<float>> record::make<float>(const LayerPlan& plan) const; \
  template std::unique_ptr<Layer<double>> record::make<double>(const LayerPlan& plan) const
// NOLINTEND(bugprone-macro-parentheses)
