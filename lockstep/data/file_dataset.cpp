#include "lockstep/data/file_dataset.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

struct FileDataset::Store {
  File file;
  ArrayHeader header;
  Shape shape;
  std::optional<Shape> turned;  // [height,width,channels] of the file, where samples are turned to channels first
  Targets targets;
  std::int64_t size = 0, sample_bytes = 0;
};

namespace {

ArrayHeader read_header(const File& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(file.size(), kNpyHeaderLimit)));
  file.read_at(0, head);
  const bool gzip = head.size() >= 2 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
  if (gzip) fail_data(file.name(), 0, "a compressed file cannot be read by slices, decompress it first");
  const bool npy = !head.empty() && head[0] == std::byte{0x93};
  ArrayHeader header = npy ? parse_npy_header(head, file.name()) : parse_idx_header(head, file.name());
  if (file.size() - header.data_offset != header.data_bytes) {
    fail_data(file.name(), header.data_offset,
              fmt::format("{} bytes of data follow the header, its sizes [{}] need {}",
                          file.size() - header.data_offset, fmt::join(header.dims, ","), header.data_bytes));
  }
  if (header.column_major && header.dims.size() > 1) {
    fail_data(file.name(), 0, "an array in Fortran order cannot be read by slices, save it in C order");
  }
  return header;
}

}  // namespace

FileDataset::FileDataset(const std::filesystem::path& path, Targets targets, std::optional<Shape> shape,
                         bool channels_last) {
  File file(path);
  ArrayHeader header = read_header(file);
  const Shape stored = sample_shape_of(header.dims, file.name());
  if (shape && shape->elements() != stored.elements()) {
    throw Error(ExitCode::usage,
                fmt::format("data: shape {} does not fit samples {} of {}", shape->str(), stored.str(), file.name()));
  }
  const std::int64_t size = header.dims.front(), sample_bytes = stored.elements() * element_size(header.type);
  check_targets(targets, size, file.name());
  Shape given = shape.value_or(stored);
  std::optional<Shape> turned;
  if (channels_last) {
    if (const auto first = channels_first_shape(given, shape ? shape->rank() == 3 : header.dims.size() == 4)) {
      turned = given;
      given = *first;
    }
  }
  store_ = std::make_shared<const Store>(
      Store{std::move(file), std::move(header), given, turned, std::move(targets), size, sample_bytes});
}

FileDataset::FileDataset(std::shared_ptr<const Store> store, const Scaling& scaling)
    : store_(std::move(store)), scaling_(scaling) {}

std::int64_t FileDataset::size() const { return store_->size; }
Shape FileDataset::sample_shape() const { return store_->shape; }
std::int64_t FileDataset::classes() const { return store_->targets.classes; }
std::int64_t FileDataset::target_size() const { return store_->targets.target_size(); }
ElementType FileDataset::element_type() const { return store_->header.type; }

template <class T>
void FileDataset::gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const {
  check_ids(ids, size());
  const Store& store = *store_;
  const auto tile = static_cast<std::size_t>(kRowTile);
  const auto sample_bytes = static_cast<std::size_t>(store.sample_bytes);
  std::vector<std::byte> buffer(std::min(tile, ids.size()) * sample_bytes);
  std::array<const std::byte*, kRowTile> rows{};
  for (std::size_t first = 0; first < ids.size(); first += tile) {
    const std::size_t count = std::min(tile, ids.size() - first);
    for (std::size_t j = 0; j < count;) {
      // Samples that follow each other in the file are read in one piece.
      std::size_t run = 1;
      while (j + run < count && ids[first + j + run] == ids[first + j] + static_cast<std::int64_t>(run)) ++run;
      store.file.read_at(store.header.data_offset + ids[first + j] * store.sample_bytes,
                         std::span(buffer).subspan(j * sample_bytes, run * sample_bytes));
      for (std::size_t end = j + run; j < end; ++j) rows[j] = buffer.data() + j * sample_bytes;
    }
    const auto samples = std::span(buffer).first(count * sample_bytes);
    const std::int64_t element = element_size(store.header.type);
    to_native_order(samples, element, store.header.order);
    check_finite(store.header.type, samples, ids.subspan(first, count), store.file.name());
    if (store.turned) channels_first(samples, *store.turned, element);
    scatter_rows(store.header.type, std::span(rows).first(count), scaling_,
                 columns_from(x, static_cast<std::int64_t>(first)));
  }
}

void FileDataset::gather(std::span<const std::int64_t> ids, Matrix<float> x) const { gather_as(ids, x); }
void FileDataset::gather(std::span<const std::int64_t> ids, Matrix<double> x) const { gather_as(ids, x); }

void FileDataset::labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  store_->targets.gather_labels(ids, out);
}

void FileDataset::targets(std::span<const std::int64_t> ids, Matrix<float> t) const {
  store_->targets.gather_values(ids, t);
}

void FileDataset::targets(std::span<const std::int64_t> ids, Matrix<double> t) const {
  store_->targets.gather_values(ids, t);
}

std::string FileDataset::describe() const {
  return fmt::format("{} {} {}, {}, read by slices", count_of(size(), "sample"), sample_shape().str(),
                     to_string(element_type()), store_->targets.describe());
}

std::shared_ptr<const StoredDataset> FileDataset::scaled(const Scaling& scaling) const {
  if (!scaling.fits(features())) throw Error(ExitCode::bug, "data set: the scaling is for another number of features");
  return std::shared_ptr<const StoredDataset>(new FileDataset(store_, scaling));
}

}  // namespace lockstep
