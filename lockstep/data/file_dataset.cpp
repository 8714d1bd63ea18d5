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
#include "lockstep/data/samples.hpp"

namespace lockstep {

struct FileDataset::InFile : Store {
  explicit InFile(File opened) : file(std::move(opened)) {}

  File file;
  ArrayHeader header{};
  std::optional<Shape> turned{};  // [height,width,channels] of the file, where samples are turned to channels first
};

namespace {

ArrayHeader read_header(const File& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(file.size(), kNpyHeaderLimit)));
  file.read_at(0, head);
  if (is_gzip(head)) fail_data(file.name(), 0, "a compressed file cannot be read by slices, decompress it first");
  const bool npy = !head.empty() && head[0] == std::byte{0x93};
  ArrayHeader header = npy ? parse_npy_header(head, file.name()) : parse_idx_header(head, file.name());
  if (file.size() - header.data_offset != header.data_bytes)
    fail_data(file.name(), header.data_offset,
              fmt::format("{} bytes of data follow the header, its sizes [{}] need {}",
                          file.size() - header.data_offset, fmt::join(header.dims, ","), header.data_bytes));
  if (header.column_major && header.dims.size() > 1)
    fail_data(file.name(), 0, "an array in Fortran order cannot be read by slices, save it in C order");
  return header;
}

}  // namespace

std::shared_ptr<const StoredDataset::Store> FileDataset::open(const std::filesystem::path& path, Targets targets,
                                                              std::optional<Shape> shape, bool channels_last) {
  const auto store = std::make_shared<InFile>(File(path));
  const std::string& name = store->file.name();
  const ArrayHeader& header = store->header = read_header(store->file);
  const Shape stored = sample_shape_of(header.dims, name);
  if (shape && shape->elements() != stored.elements())
    throw Error(ExitCode::usage,
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
  return store;
}

void FileDataset::find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>& buffer,
                            std::span<const std::byte*> rows) const {
  const auto& own = static_cast<const InFile&>(store());
  const auto sample_bytes = static_cast<std::size_t>(own.sample_bytes);
  buffer.resize(ids.size() * sample_bytes);
  for (std::size_t j = 0; j < ids.size();) {
    // Samples that follow each other in the file are read in one piece.
    std::size_t run = 1;
    while (j + run < ids.size() && ids[j + run] == ids[j] + static_cast<std::int64_t>(run)) ++run;
    own.file.read_at(own.header.data_offset + ids[j] * own.sample_bytes,
                     std::span(buffer).subspan(j * sample_bytes, run * sample_bytes));
    for (const std::size_t end = j + run; j < end; ++j) rows[j] = buffer.data() + j * sample_bytes;
  }
  const std::int64_t element = element_size(own.type);
  to_native_order(buffer, element, own.header.order);
  check_finite(own.type, buffer, ids, own.file.name());
  if (own.turned) channels_first(buffer, *own.turned, element);
}

}  // namespace lockstep
