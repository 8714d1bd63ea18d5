#pragma once
// Pictures larger than memory: those of a folder, decoded as batches ask for them.

#include <memory>
#include <string>
#include <string_view>

#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/memory_dataset.hpp"

namespace lockstep {

/// Memory: the names and labels, and kRowTile decoded pictures per running gather. Every epoch decodes anew.
class FolderDataset final : public StoredDataset {
 public:
  /// The pictures of the reader; `name` is the folder.
  FolderDataset(std::shared_ptr<const ImageFolderReader> pictures, std::string_view name)
      : StoredDataset(open(std::move(pictures), name)) {}

  bool reads_ahead() const override { return true; }
  void prefetch(std::span<const std::int64_t> ids) const override;
  std::string describe() const override { return StoredDataset::describe() + ", read by slices"; }

 private:
  struct InFolder;
  static std::shared_ptr<const Store> open(std::shared_ptr<const ImageFolderReader> pictures, std::string_view name);
  /// Error(data) when a picture is damaged, or has changed since it was measured.
  void find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                 std::span<const std::byte*> rows) const override;
  std::shared_ptr<StoredDataset> copy() const override { return std::make_shared<FolderDataset>(*this); }
};

}  // namespace lockstep
