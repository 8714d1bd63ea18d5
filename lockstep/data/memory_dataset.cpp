#include "lockstep/data/memory_dataset.hpp"

#include <algorithm>
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
  throw Error(ErrorCode::bug, "data set: weights asked for, but it has none");
}

void Dataset::lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const {
  const Shape shape = sample_shape();
  std::fill_n(out.begin(), ids.size(), shape.rank() == 0 ? 1 : shape[shape.rank() - 1]);
}

std::int64_t target_count(const Dataset& data, std::span<const std::int64_t> ids) {
  if (data.step_classes() == 0) return std::ssize(ids);
  if (!data.has_lengths()) return std::ssize(ids) * data.target_size();
  std::vector<std::int64_t> lengths(ids.size());
  data.lengths(ids, lengths);
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
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

void StoredDataset::lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const {
  if (!has_lengths()) return Dataset::lengths(ids, out);
  check_ids(ids, size());
  for (std::size_t j = 0; j < ids.size(); ++j) out[j] = store_->lengths[static_cast<std::size_t>(ids[j])];
}

std::string StoredDataset::describe() const {
  const std::string lengths = has_lengths()
                                  ? fmt::format(" of {} to {} steps", *std::ranges::min_element(store_->lengths),
                                                *std::ranges::max_element(store_->lengths))
                                  : "";
  return fmt::format("{} {}{} {}, {}", count_of(size(), "sample"), sample_shape().str(), lengths,
                     to_string(element_type()), store_->targets.describe());
}

std::shared_ptr<const StoredDataset> StoredDataset::scaled(const Scaling& scaling) const {
  if (!scaling.fits(features())) throw Error(ErrorCode::bug, "data set: the scaling is for another number of features");
  const std::shared_ptr<StoredDataset> view = copy();
  view->scaling_ = scaling;
  return view;
}

MemoryDataset::MemoryDataset(Array features, Shape sample_shape, Targets targets, std::string_view name,
                             std::optional<ElementType> source_type, std::optional<Shape> source_shape, bool missing,
                             std::vector<std::int64_t> lengths)
    : StoredDataset(make_store(std::move(features), sample_shape, std::move(targets), name, source_type, source_shape,
                               missing, std::move(lengths))) {}

namespace {

/// x as an array of samples of this shape.
Array samples_of(std::span<const float> x, const Shape& shape) {
  const auto count = static_cast<std::int64_t>(x.size()), features = shape.elements();
  if (features == 0 || count % features != 0)
    throw Error(ErrorCode::data, fmt::format("data set: {} are no whole samples of {}, {} each",
                                             count_of(count, "number"), shape.str(), count_of(features, "number")));
  return array_from<float>({count / features, features}, x);
}

Targets targets_of(std::span<const float> targets, std::size_t samples) {
  if (targets.empty()) return {};
  if (samples == 0 || targets.size() % samples != 0)
    throw Error(ErrorCode::data, fmt::format("data set: {} for {}: each needs as many",
                                             count_of(static_cast<std::int64_t>(targets.size()), "target"),
                                             count_of(static_cast<std::int64_t>(samples), "sample")));
  const auto rows = static_cast<std::int64_t>(samples), size = static_cast<std::int64_t>(targets.size() / samples);
  return make_values(array_from<float>({rows, size}, targets), "data set");
}

}  // namespace

MemoryDataset::MemoryDataset(std::span<const float> x, const Shape& sample_shape, std::span<const int> labels,
                             std::int64_t classes)
    : MemoryDataset(samples_of(x, sample_shape), sample_shape,
                    make_labels(array_from<std::int32_t>({static_cast<std::int64_t>(labels.size())}, labels), classes,
                                LabelRule::as_stored, "data set")) {}

MemoryDataset::MemoryDataset(std::span<const float> x, const Shape& sample_shape, std::span<const float> targets)
    : MemoryDataset(samples_of(x, sample_shape), sample_shape,
                    targets_of(targets, x.size() / static_cast<std::size_t>(sample_shape.elements()))) {}

namespace {

/// Features behind the end of a sequence become 0, as if the file had left them out.
void end_sequences(Array& features, const Shape& shape, std::span<const std::int64_t> lengths, std::string_view name) {
  const auto samples = static_cast<std::int64_t>(lengths.size());
  if (shape.rank() != 2)
    throw Error(ErrorCode::usage, fmt::format("{}: samples {} with lengths are no sequences [features,steps]; set "
                                              "data.as_sequence or data.shape",
                                              name, shape.str()));
  if (samples != features.dims.front())
    throw Error(ErrorCode::data, fmt::format("{}: {} for {}", name, count_of(samples, "length"),
                                             count_of(features.dims.front(), "sample")));
  const std::int64_t bytes = element_size(features.type), steps = shape[1];
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t length = lengths[static_cast<std::size_t>(s)];
    if (length < 1 || length > steps)
      throw Error(ErrorCode::data,
                  fmt::format("{}: sample {}: its length is {}, expected 1 to {}, the steps of a sample", name, s,
                              length, steps));
    for (std::int64_t f = 0; f < shape[0]; ++f) {
      std::byte* const row = features.bytes.data() + (s * shape[0] + f) * steps * bytes;
      std::fill(row + length * bytes, row + steps * bytes, std::byte{0});
    }
  }
}

}  // namespace

std::shared_ptr<const StoredDataset::Store> MemoryDataset::make_store(Array features, Shape sample_shape,
                                                                      Targets targets, std::string_view name,
                                                                      std::optional<ElementType> source_type,
                                                                      std::optional<Shape> source_shape, bool missing,
                                                                      std::vector<std::int64_t> lengths) {
  auto store = std::make_shared<InMemory>();
  const std::int64_t sample_elements = sample_shape.elements();
  store->size = features.rank() == 0 ? 0 : features.dims.front();
  if (sample_elements <= 0 || store->size * sample_elements != features.elements())
    throw Error(ErrorCode::bug,
                fmt::format("data set: {} does not hold samples {}", features.describe(), sample_shape.str()));
  check_targets(targets, store->size, name);
  const bool tokens = targets.step_classes > 0 && sample_shape.rank() == 1;
  if (!lengths.empty()) end_sequences(features, tokens ? Shape{1, sample_shape[0]} : sample_shape, lengths, name);
  if (!missing) check_finite(features, name);
  store->name = name;
  store->lengths = std::move(lengths);
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
  if (has_lengths()) {
    std::vector<std::int64_t> own(ids.size());
    lengths(ids, own);
    feed(std::as_bytes(std::span<const std::int64_t>(own)), sizeof(std::int64_t));
  }
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
