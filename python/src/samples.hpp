#pragma once
// Arrays of Python as data sets: features are read where they lie, without a copy; labels and targets are copied.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>

#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep::python {

using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// Samples that lie in an array [samples, ...] of Python, in any order of the samples: the numbers of a sample are
/// contiguous, in C order. The array must stay as it is while the data set lives.
class ArrayDataset final : public Dataset {
 public:
  /// Error(usage) for a layout or a type that cannot be read in place, Error(data) for targets that do not fit;
  /// messages begin with `name`.
  ArrayDataset(AnyArray features, Targets targets, Scaling scaling, const std::string& name);

  std::int64_t size() const override { return size_; }
  Shape sample_shape() const override { return shape_; }
  std::int64_t classes() const override { return targets_.classes; }
  std::int64_t target_size() const override { return targets_.target_size(); }
  std::int64_t step_classes() const override { return targets_.step_classes; }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { gather_as(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { gather_as(ids, x); }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    targets_.gather_labels(ids, out);
  }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override { targets_.gather_values(ids, t); }
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override { targets_.gather_values(ids, t); }
  bool has_weights() const override { return !targets_.weights.empty(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override {
    targets_.gather_weights(ids, out);
  }
  std::string describe() const override;

  ElementType type() const { return type_; }
  const Scaling& scaling() const { return scaling_; }
  /// Error(data) for numbers that are not finite, or that this precision cannot hold.
  void check_numbers(const std::string& name, Precision precision) const;
  /// Error(data) for bytes that are all 0 or 1: not what bytes are taken for, pictures from 0 to 255.
  void check_pictures() const;

 private:
  template <class T>
  void gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const;

  AnyArray owner_;
  const std::byte* data_;
  std::int64_t size_ = 0, row_stride_ = 0;  // of a sample, in bytes
  ElementType type_;
  Shape shape_;
  Targets targets_;
  Scaling scaling_;
};

/// What Python hands to fit, evaluate and predict: a data set and, where known, how it was loaded.
struct Samples {
  std::shared_ptr<const Dataset> data;
  DataConfig config{};  // source, and the keys of the preparation
  DataSplits splits{};  // its type, shape, scaling and class names
};

/// The type of an array's elements; nothing for one that Lockstep does not read.
std::optional<ElementType> element_type_of(const nanobind::dlpack::dtype& type);

/// Numbers of this type and white (white_of) as inputs of a network: as the model was trained, or else bytes are
/// pictures, 0 to 255, and become fractions of white, as in files, and all others are taken as they are.
Scaling inputs_scaling(ElementType type, double white, const ModelInfo& info, std::int64_t features);

/// What Python passes as samples: features and, where they are given, targets, and how much each sample counts.
struct GivenArrays {
  const AnyArray& x;
  const std::optional<AnyArray>&y, &weights;
};

/// Samples for this network and loss: targets are labels, or numbers.
Samples make_samples(const GivenArrays& given, const Network& network, const ModelInfo& info, std::optional<Loss> loss,
                     const std::string& name);

void bind_samples(nanobind::module_& module);

}  // namespace lockstep::python
