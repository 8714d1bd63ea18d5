#include "lockstep/model/data_digest.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kBlock = 256;  // samples; part of the digest's definition

/// Numbers as little-endian bytes, whatever this machine has.
template <class T>
void feed(Sha256& sha, std::span<T> values) {
  const auto bytes = std::as_writable_bytes(values);
  to_native_order(bytes, sizeof(T), std::endian::little);
  sha.update(bytes);
}

void feed_number(Sha256& sha, std::int64_t number) { feed(sha, std::span(&number, 1)); }

void feed_samples(Sha256& sha, const Dataset& data) {
  const std::int64_t targets = data.target_size();
  AlignedBuffer<double> t(targets * kBlock);
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> ids;
  for (std::int64_t first = 0; first < data.size(); first += kBlock) {
    const std::int64_t count = std::min(kBlock, data.size() - first);
    ids.resize(static_cast<std::size_t>(count));
    std::iota(ids.begin(), ids.end(), first);
    data.hash_features(ids, sha);
    if (targets > 0) {
      data.targets(ids, dense_matrix(t.data(), targets, count));
      feed(sha, t.span().first(static_cast<std::size_t>(targets * count)));
    }
    if (data.classes() > 0) {
      labels.resize(ids.size());
      data.labels(ids, labels);
      feed(sha, std::span(labels));
    }
  }
}

void feed_part(Sha256& sha, const Dataset* data) {
  feed_number(sha, data == nullptr ? 0 : 1);
  if (data == nullptr) return;
  const Shape shape = data->sample_shape();
  feed_number(sha, data->size());
  feed_number(sha, static_cast<std::int64_t>(shape.extents().size()));
  for (const std::int64_t extent : shape.extents()) feed_number(sha, extent);
  feed_number(sha, data->classes());
  feed_number(sha, data->target_size());
  feed_samples(sha, *data);
}

}  // namespace

std::string data_digest(const DataSplits& data) {
  Sha256 sha;
  for (const auto& part : {data.train, data.validation, data.test}) feed_part(sha, part.get());
  return to_hex(sha.finish());
}

}  // namespace lockstep
