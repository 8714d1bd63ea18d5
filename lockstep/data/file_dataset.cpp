#include "lockstep/data/file_dataset.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/prefetch.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

struct FileDataset::InFile : Store {
  explicit InFile(File opened) : file(std::move(opened)) {}

  File file;
  std::string name;  // of the file, or of the array in it
  ArrayHeader header{};
  std::unique_ptr<Prefetcher> ahead{};
  std::optional<Shape> turned{};  // [height,width,channels] of the file, where samples are turned to channels first
};

namespace {

/// Its data_offset is that in the whole file.
ArrayHeader read_header(const File& file, const FilePart& part) {
  const std::string& name = part.name;
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(part.size, kNpyHeaderLimit)));
  file.read_at(part.offset, head);
  if (is_gzip(head)) fail_data(name, 0, "a compressed file cannot be read by slices, decompress it first");
  const bool npy = !head.empty() && head[0] == std::byte{0x93};
  ArrayHeader header = npy ? parse_npy_header(head, name) : parse_idx_header(head, name);
  if (part.size - header.data_offset != header.data_bytes)
    fail_data(name, header.data_offset,
              fmt::format("{} bytes of data follow the header, its sizes [{}] need {}", part.size - header.data_offset,
                          fmt::join(header.dims, ","), header.data_bytes));
  if (header.column_major && header.dims.size() > 1)
    fail_data(name, 0, "an array in Fortran order cannot be read by slices, save it in C order");
  header.data_offset += part.offset;
  return header;
}

}  // namespace

std::shared_ptr<const StoredDataset::Store> FileDataset::open(const std::filesystem::path& path, Targets targets,
                                                              std::optional<Shape> shape, bool channels_last,
                                                              const std::optional<FilePart>& part) {
  const auto store = std::make_shared<InFile>(File(path));
  store->name = part ? part->name : store->file.name();
  const std::string& name = store->name;
  const ArrayHeader& header = store->header =
      read_header(store->file, part.value_or(FilePart{0, store->file.size(), name}));
  const Shape stored = sample_shape_of(header.dims, name);
  if (shape && shape->elements() != stored.elements())
    throw Error(ErrorCode::usage,
                fmt::format("data: shape {} does not fit samples {} of {}", shape->str(), stored.str(), name));
  store->size = header.dims.front();
  store->sample_bytes = stored.elements() * element_size(header.type);
  store->type = store->source_type = header.type;
  check_targets(targets, store->size, name);
  store->targets = std::move(targets);
  store->shape = shape.value_or(stored);
  if (channels_last)
    if (const auto first = channels_first_shape(store->shape, shape ? shape->rank() == 3 : header.dims.size() == 4)) {
      store->turned = store->shape;
      store->shape = *first;
    }
  store->source_shape = store->shape;
  store->ahead = std::make_unique<Prefetcher>([own = store.get()](std::int64_t id) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(own->sample_bytes));
    own->file.read_at(own->header.data_offset + id * own->sample_bytes, bytes);
    return bytes;
  });
  return store;
}

void FileDataset::prefetch(std::span<const std::int64_t> ids) const {
  static_cast<const InFile&>(store()).ahead->request(ids);
}

void FileDataset::find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                            std::span<const std::byte*> rows) const {
  const auto& own = static_cast<const InFile&>(store());
  const auto sample_bytes = static_cast<std::size_t>(own.sample_bytes);
  buffer.resize(ids.size() * sample_bytes);
  for (std::size_t j = 0; j < ids.size();) {
    if (const std::vector<std::byte> ahead = own.ahead->take(ids[j]); !ahead.empty()) {
      std::byte* const row = buffer.data() + j * sample_bytes;
      std::copy(ahead.begin(), ahead.end(), row);
      rows[j++] = row;
      continue;
    }
    // Samples that follow each other in the file are read in one piece.
    std::size_t run = 1;
    while (j + run < ids.size() && ids[j + run] == ids[j] + static_cast<std::int64_t>(run)) ++run;
    own.file.read_at(own.header.data_offset + ids[j] * own.sample_bytes,
                     std::span(buffer).subspan(j * sample_bytes, run * sample_bytes));
    for (const std::size_t end = j + run; j < end; ++j) rows[j] = buffer.data() + j * sample_bytes;
  }
  const std::int64_t element = element_size(own.type);
  to_native_order(buffer, element, own.header.order);
  check_finite(own.type, buffer, ids, own.name);
  if (own.turned) channels_first(buffer, *own.turned, element);
}

}  // namespace lockstep
