#pragma once
// What the fuzz targets of the readers share: any bytes are either read or refused with one line.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "lockstep/core/error.hpp"
#include "lockstep/data/array.hpp"
#include "tests/fuzz/meter.hpp"

namespace lockstep {

/// Runs read(bytes); a refusal must be Error(data) of one line, anything else ends the fuzzer.
template <class Read>
int read_or_refuse(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(std::as_bytes(std::span(data, size)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data || std::strchr(error.what(), '\n') != nullptr) std::abort();
  }
  return 0;
}

/// The same within a budget of memory and time.
template <class Read>
int read_within(const Budget& budget, const std::uint8_t* data, std::size_t size, const Read& read) {
  const Meter meter;
  read_or_refuse(data, size, read);
  meter.check(size, budget);
  return 0;
}

/// The invariant of every array that a reader returns.
inline void check_array(const Array& array) {
  std::int64_t bytes = element_size(array.type);
  for (const std::int64_t extent : array.dims) bytes *= extent;
  if (bytes != static_cast<std::int64_t>(array.bytes.size())) std::abort();
}

inline void check_same(const Array& a, const Array& b) {
  if (a.type != b.type || a.dims != b.dims || a.bytes != b.bytes) std::abort();
}

}  // namespace lockstep
