#pragma once
// Layers one after the other: the whole network, or one branch of a residual block. The sequence knows which channels
// this worker computes: of a layer that threads or ranks share, it hands the layer views of these channels only.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "lockstep/nn/columns.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

template <class T>
struct SequenceMemory {
  std::vector<LayerMemory<T>> layers;
  AlignedBuffer<T> gradients[2];  // dy and dx change places from layer to layer
  T* output = nullptr;            // where the last output of a single sample goes; null: into the last layer's memory
};

/// Where the trainable parameters of a layer begin in the vector, those of layers inside it included; -1: it has none.
std::int64_t first_parameter(const LayerPlan& plan);

/// Gives every layer that carries a state from window to window its rows; returns the rows of all of them.
std::int64_t place_states(std::vector<LayerPlan>& plans);

/// Completes a matrix of which every member has a part.
template <class T>
void gather_parts(const Pass<T>& pass, Matrix<T> matrix, const Split& split);

template <class T>
class Sequence {
 public:
  explicit Sequence(const std::vector<LayerPlan>& plans);

  /// One worker's memory for chunks of up to `samples` columns in `slots` slots; without slots, for inference only. It
  /// lies where the kernels of its passes work.
  SequenceMemory<T> make_memory(std::int64_t samples, std::int64_t slots, Memory& where = host_memory()) const;
  /// Sets the views of all layers for chunks of `samples` columns.
  void place(SequenceMemory<T>& memory, std::int64_t samples) const;
  /// Lets layers lay out the parameters for inference; it holds as long as the parameters stay as they are.
  void prepare(const T* parameters, SequenceMemory<T>& memory) const;

  /// The output of the last layer (x itself if there is none), in `memory`. An inference group shares one memory, which
  /// one of its threads has placed before; x is complete when the first thread calls, and the output when the last one
  /// returns.
  ConstMatrix<T> forward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory) const;

  /// Where layers are split: all of the output to every member.
  void gather_output(const Pass<T>& pass, SequenceMemory<T>& memory) const;

  /// x as given to forward. dy may be destroyed. An empty dx is not computed, and neither is any data gradient before
  /// the first layer with parameters. Where layers are split, dy is given as `dy_split` says, and dx comes as the first
  /// layer's in_split says; x is whole.
  void backward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy, Matrix<T> dx,
                const Split& dy_split = {}) const;

  // A branch of the residual block `block`.
  /// After forward: the output with at least the channels that this worker has of the block's output.
  void complete_branch(const Pass<T>& pass, SequenceMemory<T>& memory, const LayerPlan& block) const;
  /// backward, with dy as the block has it.
  void backward_branch(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy, Matrix<T> dx,
                       const LayerPlan& block) const;

  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const;

  /// Numbers that a pass over one sample keeps or passes on: what has to stay in cache.
  std::int64_t activation_elements() const;
  Cost forward_cost(std::int64_t samples) const;
  Cost backward_cost(std::int64_t samples, bool data) const;
  bool empty() const { return layers_.empty(); }

 private:
  /// A layer, and which of its channels belong to this worker: all of them, unless layers are split.
  struct Entry {
    explicit Entry(const LayerPlan& plan);

    const LayerPlan& plan() const { return layer->plan(); }
    bool by_channel() const { return sharing == Sharing::by_channel; }
    /// There are fewer channels than members, and none of them is this member's.
    bool idle() const { return by_channel() && outs.count == 0; }
    /// Backward, with or without the data gradient, needs all of dy, not only this member's part.
    bool needs_all_of_dy(bool data) const;
    double out_share() const { return double(outs.count) / double(plan().out[0]); }
    double in_share() const { return weight ? double(ins.count) / double(weight->in) : out_share(); }
    Cost forward_cost(std::int64_t samples) const { return out_share() * layer->own_forward_cost(samples); }
    Cost backward_cost(std::int64_t samples, bool data) const;

    std::unique_ptr<Layer<T>> layer;
    Sharing sharing;
    std::optional<WeightShape> weight;  // of linear and conv2d
    Channels outs, ins;                 // whose parameters are held; whose data gradients are computed
    std::int64_t in_pixels, out_pixels;
    std::int64_t first_parameter;  // of the trainable ones, in the vector; -1: none
    std::array<std::int64_t, LayerViews<T>::kMostParameters> offsets{}, per_channel{};  // of each parameter
  };

  bool runs_in_place(std::size_t layer) const;
  bool worth_sharing(std::size_t layer, std::int64_t samples, bool input_shared) const;
  bool follows_by_channel(std::size_t layer) const;
  std::size_t first_trained() const;
  const Split& output_split() const;
  void forward_layer(const Pass<T>& pass, const Entry& entry, ConstMatrix<T> x, LayerMemory<T>& memory) const;
  void backward_layer(const Pass<T>& pass, const Entry& entry, LayerViews<T> whole, LayerMemory<T>& memory) const;
  void backward_weights(const Pass<T>& pass, const Entry& entry, const LayerViews<T>& whole,
                        LayerMemory<T>& memory) const;
  void backward_data(const Pass<T>& pass, const Entry& entry, const LayerViews<T>& whole, LayerMemory<T>& memory) const;

  std::vector<Entry> layers_;
};

/// Returns when both branches of a residual block are there: which thread computed a channel depends on the branch.
template <class T>
void join_branches(const Pass<T>& pass);

}  // namespace lockstep
