// Any bytes as a table: refused, or numbers whose columns can be found and taken out.

#include <cmath>

#include "lockstep/data/formats/csv.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const CsvTable table = parse_csv(bytes, "fuzz.csv");
    check_array(table.values);
    for (const double value : table.values.as<double>()) {
      if (!std::isfinite(value)) std::abort();
    }
    const CsvParts parts = take_column(table, find_column(table.columns, table.values.dims[1], "last", "fuzz.csv"));
    check_array(parts.features);
    check_array(parts.column);
  });
}
