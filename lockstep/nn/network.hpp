#pragma once
// A network: its input shape, its layers, its parameters. Shapes are checked as layers are added.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/nn/layers.hpp"
#include "lockstep/nn/parameters.hpp"
#include "lockstep/nn/plan.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// One line of the description: what inspect prints.
struct LayerSummary {
  std::string path;  // "0", "4.body.1"
  std::string type;
  std::string detail;  // "6 of 5x5, pad 2"
  Shape in, out;
  std::int64_t parameters = 0;  // trainable ones
  double flops = 0;             // forward, one sample
};

class Network {
 public:
  explicit Network(Shape input, Precision precision = Precision::float32, Init init = {});

  /// "784-128-64-10": linear layers with `activation` between them and `output` after the last (nothing: none).
  static Network from_sizes(const std::vector<std::int64_t>& sizes, const std::optional<LayerSpec>& activation,
                            const std::optional<LayerSpec>& output, Precision precision = Precision::float32,
                            Init init = {});

  /// Throws Error(usage) that names the layer and both shapes when it does not fit.
  Network& add(LayerSpec layer);

  const Shape& input() const { return input_; }
  const Shape& output() const { return plans_.empty() ? input_ : plans_.back().out; }
  Precision precision() const { return precision_; }
  const std::vector<LayerSpec>& layers() const { return layers_; }
  const std::vector<LayerPlan>& plans() const { return plans_; }
  std::vector<LayerSummary> summary() const;

  const std::vector<ParameterInfo>& parameters() const { return infos_; }
  std::int64_t parameter_count() const { return count_; }  // all elements of the vector
  std::int64_t trainable_count() const { return trainable_; }

  /// Draws all parameters anew. A network that was never told a seed uses 1.
  void initialise(std::uint64_t seed);
  /// The same, when they are first asked for: a rank that holds a part of the network never draws all of it.
  void initialise_later(std::uint64_t seed);

  /// The parameter vector; drawn at first use after the last add().
  ParameterValues& values();
  const ParameterValues& values() const;
  /// One parameter's values from element `first` on, by its place in parameters(): copied, or drawn where the vector
  /// was not.
  template <class T>
  void copy_parameter(std::size_t index, std::int64_t first, std::span<T> to) const;
  template <class T>
  T* data() {
    return std::get<AlignedBuffer<T>>(values()).data();
  }
  template <class T>
  const T* data() const {
    return std::get<AlignedBuffer<T>>(values()).data();
  }

 private:
  void place_parameters();
  void draw() const;
  template <class T>
  void draw_parameter(std::size_t index, std::int64_t first, std::span<T> to) const;

  Shape input_;
  Precision precision_;
  Init init_;
  std::uint64_t seed_ = 1;
  std::vector<LayerSpec> layers_;
  std::vector<LayerPlan> plans_;
  std::vector<ParameterInfo> infos_;
  std::int64_t count_ = 0, trainable_ = 0;
  mutable bool initialised_ = false;
  mutable ParameterValues values_;
};

/// Whether its input is a sequence [features, steps], as a recurrent layer takes it.
bool reads_sequences(const Network& network);

}  // namespace lockstep
