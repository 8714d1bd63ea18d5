#include "lockstep/data/folder_dataset.hpp"

#include <algorithm>
#include <utility>

#include "lockstep/data/prefetch.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

struct FolderDataset::InFolder : Store {
  std::shared_ptr<const ImageFolderReader> pictures;
  std::unique_ptr<Prefetcher> ahead{};
};

std::shared_ptr<const StoredDataset::Store> FolderDataset::open(std::shared_ptr<const ImageFolderReader> pictures,
                                                                std::string_view name) {
  const auto store = std::make_shared<InFolder>();
  store->shape = store->source_shape = pictures->shape();
  store->targets = pictures->targets();
  store->size = pictures->size();
  store->type = pictures->element_type();
  store->source_type = ElementType::uint8;
  store->sample_bytes = store->shape.elements() * element_size(store->type);
  check_targets(store->targets, store->size, name);
  store->pictures = std::move(pictures);
  store->ahead =
      std::make_unique<Prefetcher>([own = store.get()](std::int64_t id) { return own->pictures->picture(id).bytes; });
  return store;
}

void FolderDataset::prefetch(std::span<const std::int64_t> ids) const {
  static_cast<const InFolder&>(store()).ahead->request(ids);
}

void FolderDataset::find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                              std::span<const std::byte*> rows) const {
  const auto& own = static_cast<const InFolder&>(store());
  const auto sample_bytes = static_cast<std::size_t>(own.sample_bytes);
  buffer.resize(ids.size() * sample_bytes);
  for (std::size_t j = 0; j < ids.size(); ++j) {
    std::vector<std::byte> picture = own.ahead->take(ids[j]);
    if (picture.empty()) picture = own.pictures->picture(ids[j]).bytes;
    std::byte* const out = buffer.data() + j * sample_bytes;
    std::copy(picture.begin(), picture.end(), out);
    rows[j] = out;
  }
}

}  // namespace lockstep
