#pragma once
// Layers that run. A layer knows mathematics, not machines: it calls the kernels of the table that the pass carries, on
// the views that its sequence hands it. Who computes which channels is the sequence's concern (sequence.hpp). Layers
// are immutable and shared by all workers; what a worker needs to remember between forward and backward is in its
// LayerMemory.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "lockstep/lab/recorder.hpp"
#include "lockstep/nn/plan.hpp"

namespace lockstep {

/// Several threads that carry the same few samples through a network together. Each computes its share of the channels
/// of every layer. A sum belongs to one output, so its bits do not depend on the thread that computes it. This is one
/// thread's view of its group.
class InferenceGroup {
 public:
  InferenceGroup(int index, int size) : index_(index), size_(size) {}
  virtual ~InferenceGroup() = default;

  /// A barrier: returns when all threads have called it; what each wrote before is visible to all after.
  virtual void meet() const = 0;

  int index() const { return index_; }

  /// This thread's share of a layer's channels.
  Channels share(std::int64_t channels) const { return share_of_channels(channels, index_, size_); }

 private:
  int index_, size_;
};

/// Is told how far backward has come, so that the reduction of gradients can begin before its end.
class GradientWatch {
 public:
  virtual ~GradientWatch() = default;
  /// Elements of pass.gradients from `first` on are complete. Every call has a smaller `first`.
  virtual void complete_from(std::int64_t first) = 0;
};

/// Sums over a whole batch, for layers that need them in the middle of a pass. A worker that has one runs all of its
/// slots as one chunk, and all workers come to the same sums in the same order.
template <class T>
class BatchSum {
 public:
  virtual ~BatchSum() = default;
  /// sums: over the slots of this chunk, in the host's memory; they become those over all slots of the batch, by the
  /// slot tree. Returns when every worker has come here.
  virtual void add_up(std::span<T> sums) = 0;
  /// Of the batch.
  virtual std::int64_t samples() const = 0;
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
  const std::int64_t* lengths = nullptr;  // of each column's sequence, where the kernels work; null: all have all steps
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  Recorder* recorder = nullptr;           // where the time goes; null: not profiling
  GradientWatch* watch = nullptr;         // null: no overlap with the reduction
  const InferenceGroup* group = nullptr;  // the threads that compute this pass together; null: this thread alone
  BatchSum<T>* batch = nullptr;           // in training; null: the chunk is the batch
  // States of recurrent layers (LayerPlan::state), a column per sample: at the end of the window before, and of this
  // one. Without data: the sequences begin here; they end here.
  ConstMatrix<T> state_before{};
  Matrix<T> state_after{};
  ActivationGather* gather = nullptr;  // of activations whose parts several ranks hold; null: layers are whole
};

/// What one call of a layer computes, as ready views: the whole layer, or some of its channels.
template <class T>
struct LayerViews {
  static constexpr std::size_t kMostParameters = 32;  // of four recurrent layers in both directions

  Channels in, out;         // the channels that the views hold, of all that the layer has
  std::int64_t groups = 1;  // of a grouped convolution: the groups that these channels make up, or the one they lie in
  ConstMatrix<T> x;
  Matrix<T> y;
  Matrix<T> dy, dx;                                    // backward; without data, dx is not wanted
  std::array<const T*, kMostParameters> parameters{};  // of these channels, in the order of the plan; null: none
  std::array<T*, kMostParameters> gradients{};         // the same; null in backward: not wanted
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

/// From row to row of transposed weights for `outputs` outputs: rows start on cache lines.
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

  /// y may overwrite x: backward needs at most y.
  virtual bool in_place() const { return false; }
  /// Backward reads this layer's y, so the next layer must not overwrite it.
  virtual bool backward_reads_y() const { return false; }
  /// dx may overwrite dy.
  virtual bool backward_in_place() const { return in_place(); }

  virtual Sharing sharing() const = 0;
  /// What a layer that divides its work over ranks by itself is divided by, such as heads; 0: it does not.
  virtual std::int64_t split_units() const { return 0; }

  /// Numbers per sample that it carries from one window of a sequence to the next; 0: none.
  virtual std::int64_t state_rows() const { return 0; }

  /// Sets up memory, where the kernels of the pass will work, for chunks of up to `samples` columns in `slots` slots
  /// (saved, inner; y is the caller's concern). Without slots: for inference only.
  virtual void reserve(LayerMemory<T>&, std::int64_t /*samples*/, std::int64_t /*slots*/, Memory&) const {}
  /// Sets the views of inner layers for chunks of `samples` columns.
  virtual void place(LayerMemory<T>&, std::int64_t /*samples*/) const {}
  /// Fills `prepared` with what makes forward faster; it holds as long as the parameters stay as they are.
  virtual void prepare(const T* /*parameters*/, LayerMemory<T>&) const {}

  /// Fills views.y.
  virtual void forward(const Pass<T>& pass, const LayerViews<T>& views, LayerMemory<T>& memory) const = 0;

  /// Fills views.gradients and views.dx, as far as they are wanted. x is what forward was given (y itself where the
  /// layer ran in place). dy may be destroyed.
  virtual void backward(const Pass<T>& pass, const LayerViews<T>& views, LayerMemory<T>& memory) const = 0;

  /// Takes the batch's sums of running statistics into the parameters; `samples` is the size of the batch.
  virtual void update_statistics(const KernelTable<T>&, KernelContext&, T* /*parameters*/, const T* /*sums*/,
                                 std::int64_t /*samples*/) const {}

  // What the whole layer costs: its own work, and that of the layers inside it, which have spans of their own.
  virtual Cost own_forward_cost(std::int64_t samples) const = 0;
  virtual Cost parameter_gradient_cost(std::int64_t /*samples*/) const { return {}; }
  virtual Cost data_gradient_cost(std::int64_t samples) const { return own_forward_cost(samples); }
  virtual Cost inner_forward_cost(std::int64_t /*samples*/) const { return {}; }
  virtual Cost inner_backward_cost(std::int64_t /*samples*/, bool /*data*/) const { return {}; }

  Cost forward_cost(std::int64_t samples) const { return own_forward_cost(samples) + inner_forward_cost(samples); }
  /// With or without the data gradient.
  Cost backward_cost(std::int64_t samples, bool data) const {
    return parameter_gradient_cost(samples) + (data ? data_gradient_cost(samples) : Cost{}) +
           inner_backward_cost(samples, data);
  }

 private:
  LayerPlan plan_;
};

/// The rows of these channels of an activation of this shape.
template <class View>
View rows_of(const View& matrix, const Shape& shape, const Channels& channels) {
  const std::int64_t pixels = shape.elements() / shape[0];
  return matrix.rows_from(channels.first * pixels, channels.count * pixels);
}

/// By the record's make(). Flatten has nothing to compute: sequences leave it out.
template <class T>
std::unique_ptr<Layer<T>> make_layer(const LayerPlan& plan) {
  return std::visit([&](const auto& layer) { return layer.template make<T>(plan); }, plan.spec.kind);
}

}  // namespace lockstep

// Every layer file ends with this: the record's make(), which makes a Running<T>(plan), for both scalars.
// NOLINTBEGIN(bugprone-macro-parentheses): the names of a record and of a template take none
#define LOCKSTEP_MAKE_LAYER(record, Running)                            \
  template <class T>                                                    \
  std::unique_ptr<Layer<T>> record::make(const LayerPlan& plan) const { \
    return std::make_unique<Running<T>>(plan);                          \
  }                                                                     \
  LOCKSTEP_INSTANTIATE_LAYER(record)
#define LOCKSTEP_INSTANTIATE_LAYER(record)                                                 \
  template std::unique_ptr<Layer<float>> record::make<float>(const LayerPlan& plan) const; \
  template std::unique_ptr<Layer<double>> record::make<double>(const LayerPlan& plan) const
// NOLINTEND(bugprone-macro-parentheses)
