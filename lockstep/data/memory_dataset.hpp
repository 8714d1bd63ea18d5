#pragma once
// Samples held in memory in the type of their file; they become float32 or float64 only inside gather.

#include <memory>
#include <optional>
#include <string>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/scaling.hpp"
#include "lockstep/data/targets.hpp"

namespace lockstep {

/// A data set that stores raw numbers and can be viewed through another scaling without a second copy.
class StoredDataset : public Dataset {
 public:
  virtual std::shared_ptr<const StoredDataset> scaled(const Scaling& scaling) const = 0;
  virtual ElementType element_type() const = 0;
  /// Of the numbers in the source: resized images are float64 here, but where their file holds bytes a white pixel is
  /// still 255.
  virtual ElementType source_type() const { return element_type(); }
  /// The extents of one sample in the source, before it was reshaped, transposed or resized.
  virtual Shape source_shape() const { return sample_shape(); }
};

class MemoryDataset final : public StoredDataset {
 public:
  /// features: dims [samples, ...] with sample_shape.elements() numbers per sample. Error(data), beginning with `name`:
  /// a feature or a real target is not finite, a label is outside [0, classes), or the number of targets (if there are
  /// any) is not the number of samples.
  /// source_type, source_shape: of what the features were computed from; nothing: they are as the source holds them.
  MemoryDataset(Array features, Shape sample_shape, Targets targets, std::string_view name = "data set",
                std::optional<ElementType> source_type = std::nullopt,
                std::optional<Shape> source_shape = std::nullopt);

  std::int64_t size() const override { return store_->size; }
  Shape sample_shape() const override { return store_->shape; }
  std::int64_t classes() const override { return store_->targets.classes; }
  std::int64_t target_size() const override { return store_->targets.target_size(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override;
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override;
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override;
  void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const override;
  std::string describe() const override;

  std::shared_ptr<const StoredDataset> scaled(const Scaling& scaling) const override;
  ElementType element_type() const override { return store_->features.type; }
  ElementType source_type() const override { return store_->source_type; }
  Shape source_shape() const override { return store_->source_shape; }
  const Array& raw_features() const { return store_->features; }

 private:
  struct Store {
    Array features;
    Shape shape;
    Targets targets;
    std::int64_t size = 0, sample_bytes = 0;
    ElementType source_type = ElementType::float64;
    Shape source_shape{1};
  };
  MemoryDataset(std::shared_ptr<const Store> store, const Scaling& scaling);
  template <class T>
  void gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const;

  std::shared_ptr<const Store> store_;
  Scaling scaling_;
};

}  // namespace lockstep
