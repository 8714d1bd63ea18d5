#include "lockstep/data/dataset.hpp"

#include <bit>

#include "lockstep/core/aligned.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

void Dataset::hash_features(std::span<const std::int64_t> ids, Sha256& sha) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  AlignedBuffer<double> x(features() * count);
  gather(ids, dense_matrix(x.data(), features(), count));
  const auto bytes = std::as_writable_bytes(x.span());
  to_native_order(bytes, sizeof(double), std::endian::little);
  sha.update(bytes);
}

}  // namespace lockstep
