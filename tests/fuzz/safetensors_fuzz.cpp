// Any bytes: refused with one line, or read; what was read survives being written and read again.

#include <cstdlib>
#include <cstring>

#include "lockstep/core/error.hpp"
#include "lockstep/data/safetensors.hpp"

namespace {

using namespace lockstep;

bool same(const Safetensors& a, const Safetensors& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Array &x = a.tensors[i].array, &y = b.tensors[i].array;
    if (a.tensors[i].name != b.tensors[i].name || x.type != y.type || x.dims != y.dims || x.bytes != y.bytes)
      return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Safetensors read;
  try {
    read = parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
  } catch (const Error& error) {
    if (error.code() != ExitCode::data || std::strchr(error.what(), '\n') != nullptr) std::abort();
    return 0;
  }
  if (!same(read, parse_safetensors(write_safetensors(read), "again.safetensors"))) std::abort();
  return 0;
}
