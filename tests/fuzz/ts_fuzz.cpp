// Any bytes as time series: refused, or finite numbers with lengths and classes that fit them.

#include <cmath>

#include "lockstep/data/formats/ts.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const TsFile file = parse_ts(bytes, "fuzz.ts");
    check_array(file.values);
    for (const double value : file.values.as<double>())
      if (!std::isfinite(value)) std::abort();
    for (const std::int64_t length : file.lengths)
      if (length < 1 || length > file.values.dims[2]) std::abort();
    if (!file.lengths.empty() && std::ssize(file.lengths) != file.values.dims[0]) std::abort();
    if (!file.targets) return;
    check_array(*file.targets);
    for (const double target : file.targets->as<double>())
      if (!file.class_names.empty() && !(target >= 0 && target < double(file.class_names.size()))) std::abort();
  });
}
