#include "lockstep/data/memory_dataset.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

void Dataset::hash_features(std::span<const std::int64_t> ids, Sha256& sha) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  AlignedBuffer<double> x(features() * count);
  gather(ids, dense_matrix(x.data(), features(), count));
  const auto bytes = std::as_writable_bytes(x.span());
  to_native_order(bytes, sizeof(double), std::endian::little);
  sha.update(bytes);
}

void Dataset::weights(std::span<const std::int64_t>, std::span<double>) const {
  throw Error(ExitCode::bug, "data set: weights asked for, but it has none");
}

std::vector<std::int64_t> ids_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

template <class T>
void StoredDataset::gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const {
  check_ids(ids, size());
  std::vector<std::byte> buffer;
  gather_rows(store_->type, ids, scaling_, x,
              [&](auto some, std::span<const std::byte*> rows) { find_rows(some, buffer, rows); });
}
template void StoredDataset::gather_as(std::span<const std::int64_t>, Matrix<float>) const;
template void StoredDataset::gather_as(std::span<const std::int64_t>, Matrix<double>) const;

std::string StoredDataset::describe() const {
  return fmt::format("{} {} {}, {}", count_of(size(), "sample"), sample_shape().str(), to_string(element_type()),
                     store_->targets.describe());
}

std::shared_ptr<const StoredDataset> StoredDataset::scaled(const Scaling& scaling) const {
  if (!scaling.fits(features())) throw Error(ExitCode::bug, "data set: the scaling is for another number of features");
  const std::shared_ptr<StoredDataset> view = copy();
  view->scaling_ = scaling;
  return view;
}

MemoryDataset::MemoryDataset(Array features, Shape sample_shape, Targets targets, std::string_view name,
                             std::optional<ElementType> source_type, std::optional<Shape> source_shape, bool missing)
    : StoredDataset(make_store(std::move(features), sample_shape, std::move(targets), name, source_type, source_shape,
                               missing)) {}

std::shared_ptr<const StoredDataset::Store> MemoryDataset::make_store(Array features, Shape sample_shape,
                                                                      Targets targets, std::string_view name,
                                                                      std::optional<ElementType> source_type,
                                                                      std::optional<Shape> source_shape, bool missing) {
  auto store = std::make_shared<InMemory>();
  const std::int64_t sample_elements = sample_shape.elements();
  store->size = features.rank() == 0 ? 0 : features.dims.front();
  if (sample_elements <= 0 || store->size * sample_elements != features.elements())
    throw Error(ExitCode::bug,
                fmt::format("data set: {} does not hold samples {}", features.describe(), sample_shape.str()));
  check_targets(targets, store->size, name);
  if (!missing) check_finite(features, name);
  store->name = name;
  store->type = features.type;
  store->sample_bytes = sample_elements * element_size(features.type);
  store->source_type = source_type.value_or(features.type);
  store->source_shape = source_shape.value_or(sample_shape);
  store->shape = sample_shape;
  store->features = std::move(features);
  store->targets = std::move(targets);
  return store;
}

std::shared_ptr<const MemoryDataset> MemoryDataset::filled(std::span<const double> fills) const {
  Array features = raw_features();
  const auto values = features.as<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i])) values[i] = fills[i % fills.size()];
  return std::make_shared<MemoryDataset>(std::move(features), sample_shape(), store().targets,
                                         static_cast<const InMemory&>(store()).name, source_type(), source_shape());
}

void MemoryDataset::find_rows(std::span<const std::int64_t> ids, std::vector<std::byte>&,
                              std::span<const std::byte*> rows) const {
  const std::byte* const raw = raw_features().bytes.data();
  for (std::size_t j = 0; j < ids.size(); ++j) rows[j] = raw + ids[j] * store().sample_bytes;
}

void MemoryDataset::hash_features(std::span<const std::int64_t> ids, Sha256& sha) const {
  check_ids(ids, size());
  const ElementType type = element_type();
  const auto feed = [&sha](std::span<const std::byte> bytes, std::int64_t element) {
    std::vector<std::byte> little(bytes.begin(), bytes.end());
    to_native_order(little, element, std::endian::little);
    sha.update(little);
  };
  const auto kind = static_cast<std::byte>(type);
  sha.update({&kind, 1});
  feed(std::as_bytes(scaling().scales()), sizeof(double));
  feed(std::as_bytes(scaling().offsets()), sizeof(double));
  const std::span<const std::byte> raw = raw_features().bytes;
  for (const std::int64_t id : ids) {
    const auto row = raw.subspan(static_cast<std::size_t>(id * store().sample_bytes),
                                 static_cast<std::size_t>(store().sample_bytes));
    if (std::endian::native == std::endian::little)
      sha.update(row);
    else
      feed(row, element_size(type));
  }
}

}  // namespace lockstep
