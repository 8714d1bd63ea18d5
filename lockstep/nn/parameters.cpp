#include "lockstep/nn/parameters.hpp"

#include <bit>
#include <span>

#include "lockstep/core/sha256.hpp"

namespace lockstep {

static_assert(std::endian::native == std::endian::little, "the weight hash is defined over little-endian bytes");

std::string weight_hash(const ParameterValues& values) {
  return std::visit(
      [](const auto& buffer) {
        Sha256 hash;
        hash.update(std::as_bytes(buffer.span()));
        return to_hex(hash.finish());
      },
      values);
}

std::string short_hash(const std::string& hash) { return hash.substr(0, 16); }

}  // namespace lockstep
