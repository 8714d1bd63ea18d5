#include "lockstep/data/memory_dataset.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

MemoryDataset::MemoryDataset(Array features, Shape sample_shape, Targets targets, std::string_view name,
                             std::optional<ElementType> source_type, std::optional<Shape> source_shape) {
  auto store = std::make_shared<Store>();
  const std::int64_t sample_elements = sample_shape.elements();
  store->size = features.rank() == 0 ? 0 : features.dims.front();
  if (sample_elements <= 0 || store->size * sample_elements != features.elements()) {
    throw Error(ExitCode::bug,
                fmt::format("data set: {} does not hold samples {}", features.describe(), sample_shape.str()));
  }
  check_targets(targets, store->size, name);
  check_finite(features, name);
  store->sample_bytes = sample_elements * element_size(features.type);
  store->source_type = source_type.value_or(features.type);
  store->source_shape = source_shape.value_or(sample_shape);
  store->shape = sample_shape;
  store->features = std::move(features);
  store->targets = std::move(targets);
  store_ = std::move(store);
}

MemoryDataset::MemoryDataset(std::shared_ptr<const Store> store, const Scaling& scaling)
    : store_(std::move(store)), scaling_(scaling) {}

template <class T>
void MemoryDataset::gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const {
  check_ids(ids, size());
  std::array<const std::byte*, kRowTile> rows{};
  const auto tile = static_cast<std::size_t>(kRowTile);
  const std::byte* raw = store_->features.bytes.data();
  for (std::size_t first = 0; first < ids.size(); first += tile) {
    const std::size_t count = std::min(tile, ids.size() - first);
    for (std::size_t j = 0; j < count; ++j) rows[j] = raw + ids[first + j] * store_->sample_bytes;
    scatter_rows(store_->features.type, std::span(rows).first(count), scaling_,
                 columns_from(x, static_cast<std::int64_t>(first)));
  }
}

void MemoryDataset::gather(std::span<const std::int64_t> ids, Matrix<float> x) const { gather_as(ids, x); }
void MemoryDataset::gather(std::span<const std::int64_t> ids, Matrix<double> x) const { gather_as(ids, x); }

void MemoryDataset::labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  store_->targets.gather_labels(ids, out);
}

void MemoryDataset::targets(std::span<const std::int64_t> ids, Matrix<float> t) const {
  store_->targets.gather_values(ids, t);
}

void MemoryDataset::targets(std::span<const std::int64_t> ids, Matrix<double> t) const {
  store_->targets.gather_values(ids, t);
}

void MemoryDataset::hash_features(std::span<const std::int64_t> ids, Sha256& sha) const {
  check_ids(ids, size());
  const ElementType type = store_->features.type;
  const auto feed = [&sha](std::span<const std::byte> bytes, std::int64_t element) {
    std::vector<std::byte> little(bytes.begin(), bytes.end());
    to_native_order(little, element, std::endian::little);
    sha.update(little);
  };
  const auto kind = static_cast<std::byte>(type);
  sha.update({&kind, 1});
  feed(std::as_bytes(scaling_.scales()), sizeof(double));
  feed(std::as_bytes(scaling_.offsets()), sizeof(double));
  const std::span<const std::byte> raw = store_->features.bytes;
  for (const std::int64_t id : ids) {
    const auto row = raw.subspan(static_cast<std::size_t>(id * store_->sample_bytes),
                                 static_cast<std::size_t>(store_->sample_bytes));
    if (std::endian::native == std::endian::little)
      sha.update(row);
    else
      feed(row, element_size(type));
  }
}

std::string MemoryDataset::describe() const {
  return fmt::format("{} {} {}, {}", count_of(size(), "sample"), sample_shape().str(), to_string(element_type()),
                     store_->targets.describe());
}

std::shared_ptr<const StoredDataset> MemoryDataset::scaled(const Scaling& scaling) const {
  if (!scaling.fits(features())) throw Error(ExitCode::bug, "data set: the scaling is for another number of features");
  return std::shared_ptr<const StoredDataset>(new MemoryDataset(store_, scaling));
}

}  // namespace lockstep
