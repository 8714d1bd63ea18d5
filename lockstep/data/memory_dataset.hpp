#pragma once
// Samples held in memory in the type of their file; they become float32 or float64 only inside gather.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {

/// A data set that stores raw numbers and can be viewed through another scaling without a second copy.
class StoredDataset : public Dataset {
 public:
  std::int64_t size() const override { return store_->size; }
  Shape sample_shape() const override { return store_->shape; }
  std::int64_t classes() const override { return store_->targets.classes; }
  std::int64_t step_classes() const override { return store_->targets.step_classes; }
  std::int64_t target_size() const override { return store_->targets.target_size(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { gather_as(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { gather_as(ids, x); }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    store_->targets.gather_labels(ids, out);
  }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override {
    store_->targets.gather_values(ids, t);
  }
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override {
    store_->targets.gather_values(ids, t);
  }
  bool has_weights() const override { return !store_->targets.weights.empty(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override {
    store_->targets.gather_weights(ids, out);
  }
  bool has_lengths() const override { return !store_->lengths.empty(); }
  void lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const override;
  std::string describe() const override;

  std::shared_ptr<const StoredDataset> scaled(const Scaling& scaling) const;
  ElementType element_type() const { return store_->type; }
  /// Of the numbers in the source: resized images are float64 here, but where their file holds bytes a white pixel is
  /// still 255.
  ElementType source_type() const { return store_->source_type; }
  /// The extents of one sample in the source, before it was reshaped, transposed or resized.
  Shape source_shape() const { return store_->source_shape; }

 protected:
  /// What all views of the data share.
  struct Store {
    virtual ~Store() = default;
    Shape shape{};
    Targets targets{};
    std::vector<std::int64_t> lengths{};  // one per sample; empty: all samples have all steps
    std::int64_t size = 0, sample_bytes = 0;
    ElementType type = ElementType::float64, source_type = ElementType::float64;
    Shape source_shape{1};
  };
  explicit StoredDataset(std::shared_ptr<const Store> store) : store_(std::move(store)) {}

  /// Points rows[j] at the elements of sample ids[j], in native byte order; at most kRowTile samples. What has to be
  /// read first goes into `buffer`.
  virtual void find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                         std::span<const std::byte*> rows) const = 0;
  virtual std::shared_ptr<StoredDataset> copy() const = 0;
  const Store& store() const { return *store_; }
  const Scaling& scaling() const { return scaling_; }

 private:
  template <class T>
  void gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const;

  std::shared_ptr<const Store> store_;
  Scaling scaling_;
};

class MemoryDataset final : public StoredDataset {
 public:
  /// features: dims [samples, ...] with sample_shape.elements() numbers per sample. Error(data), beginning with `name`:
  /// a feature or a real target is not finite, a label is outside [0, classes), or the number of targets (if there are
  /// any) is not the number of samples; the same of weights, one negative or not finite, or all 0.
  /// missing: features may be NaN, to be replaced by filled().
  /// source_type, source_shape: of what the features were computed from; nothing: they are as the source holds them.
  /// lengths: of sequences, one per sample, each from 1 to the last extent of a sample, Error(data) otherwise; the
  /// features behind them become 0.
  MemoryDataset(Array features, Shape sample_shape, Targets targets, std::string_view name = "data set",
                std::optional<ElementType> source_type = std::nullopt, std::optional<Shape> source_shape = std::nullopt,
                bool missing = false, std::vector<std::int64_t> lengths = {});

  /// Copies of x [samples, elements of a sample] and of one label per sample, from 0. `classes` 0: the largest label
  /// + 1. Error(data) as above.
  MemoryDataset(std::span<const float> x, const Shape& sample_shape, std::span<const int> labels,
                std::int64_t classes = 0);
  /// The same with real targets, as many for every sample. An empty `targets`: samples without any.
  MemoryDataset(std::span<const float> x, const Shape& sample_shape, std::span<const float> targets);

  /// A copy with fills[f] in place of every NaN of feature f; features are float64. Error(data) as above for those that
  /// stay NaN.
  std::shared_ptr<const MemoryDataset> filled(std::span<const double> fills) const;

  void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const override;
  const Array& raw_features() const { return static_cast<const InMemory&>(store()).features; }

 private:
  struct InMemory : Store {
    Array features;
    std::string name;
  };
  static std::shared_ptr<const Store> make_store(Array features, Shape sample_shape, Targets targets,
                                                 std::string_view name, std::optional<ElementType> source_type,
                                                 std::optional<Shape> source_shape, bool missing,
                                                 std::vector<std::int64_t> lengths);
  void find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                 std::span<const std::byte*> rows) const override;
  std::shared_ptr<StoredDataset> copy() const override { return std::make_shared<MemoryDataset>(*this); }
};

}  // namespace lockstep
