#pragma once
// Data larger than memory: an uncompressed IDX or .npy file read by slices, as batches ask for them.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/scaling.hpp"
#include "lockstep/data/targets.hpp"

namespace lockstep {

/// Memory: the targets, and kRowTile samples per running gather, whatever the size of the file.
class FileDataset final : public StoredDataset {
 public:
  /// The header is read and its sizes are checked against the file's length; no sample is read. `shape`: another
  /// shape of the same number of elements per sample. `channels_last`: samples are stored as [height,width,channels]
  /// and given as [channels,height,width]. Error(data): not such a file, compressed, or in Fortran order (a sample is
  /// then scattered over the whole file).
  FileDataset(const std::filesystem::path& path, Targets targets, std::optional<Shape> shape = std::nullopt,
              bool channels_last = false);

  std::int64_t size() const override;
  Shape sample_shape() const override;
  std::int64_t classes() const override;
  std::int64_t target_size() const override;
  /// Error(data) when the file has become shorter since it was opened, or a number is not finite.
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override;
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override;
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override;
  std::string describe() const override;

  std::shared_ptr<const StoredDataset> scaled(const Scaling& scaling) const override;
  ElementType element_type() const override;

 private:
  struct Store;
  FileDataset(std::shared_ptr<const Store> store, const Scaling& scaling);
  template <class T>
  void gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const;

  std::shared_ptr<const Store> store_;
  Scaling scaling_;
};

}  // namespace lockstep
