#pragma once
// Data larger than memory: an uncompressed IDX or .npy file, or one that stands in a .npz archive, read by slices, as
// batches ask for them.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/data/memory_dataset.hpp"

namespace lockstep {

/// A part of a file that is a file itself: a stored member of an archive.
struct FilePart {
  std::int64_t offset = 0, size = 0;
  std::string name{};  // for messages: "a.npz(x)"
};

/// Memory: the targets, and kRowTile samples per running gather, whatever the size of the file.
class FileDataset final : public StoredDataset {
 public:
  /// The header is read and its sizes are checked against the file's length; no sample is read. `shape`: another
  /// shape of the same number of elements per sample. `channels_last`: samples are stored as [height,width,channels]
  /// and given as [channels,height,width]. Error(data): not such a file, compressed, or in Fortran order (a sample is
  /// then scattered over the whole file). `part`: what to read of the file; its checksum is not looked at.
  FileDataset(const std::filesystem::path& path, Targets targets, std::optional<Shape> shape = std::nullopt,
              bool channels_last = false, const std::optional<FilePart>& part = std::nullopt)
      : StoredDataset(open(path, std::move(targets), shape, channels_last, part)) {}

  bool reads_ahead() const override { return true; }
  void prefetch(std::span<const std::int64_t> ids) const override;
  std::string describe() const override { return StoredDataset::describe() + ", read by slices"; }

 private:
  struct InFile;
  static std::shared_ptr<const Store> open(const std::filesystem::path& path, Targets targets,
                                           std::optional<Shape> shape, bool channels_last,
                                           const std::optional<FilePart>& part);
  /// Error(data) when the file has become shorter since it was opened, or a number is not finite.
  void find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                 std::span<const std::byte*> rows) const override;
  std::shared_ptr<StoredDataset> copy() const override { return std::make_shared<FileDataset>(*this); }
};

}  // namespace lockstep
