#pragma once
// Layers one after the other: the whole network, or one branch of a residual block.

#include <memory>
#include <vector>

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

  /// The output of the last layer (x itself if there is none), in `memory`. A crew shares one memory, which one of it
  /// has placed before; x is complete when the first member calls, and the output when the last one returns.
  ConstMatrix<T> forward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory) const;

  /// How forward leaves the output, where layers are split.
  const Split& output_split() const;
  /// All of it to every member.
  void gather_output(const Pass<T>& pass, SequenceMemory<T>& memory) const;

  /// x as given to forward. dy may be destroyed. An empty dx is not computed, and neither is any data gradient before
  /// the first layer with parameters. Where layers are split, dy is given as `dy_split` says, and dx comes as the first
  /// layer's in_split says; x is whole.
  void backward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy, Matrix<T> dx,
                const Split& dy_split = {}) const;

  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const;

  /// Numbers that a pass over one sample keeps or passes on: what has to stay in cache.
  std::int64_t activation_elements() const;
  Cost forward_cost(std::int64_t samples) const;
  Cost backward_cost(std::int64_t samples, bool data) const;
  bool empty() const { return layers_.empty(); }

 private:
  bool runs_in_place(std::size_t layer) const;
  bool worth_sharing(std::size_t layer, std::int64_t samples, bool input_shared) const;
  bool follows_by_channel(std::size_t layer) const;
  std::size_t first_trained() const;

  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<std::int64_t> first_parameters_;  // of each layer
};

}  // namespace lockstep
