// Any bytes as a table: refused, or numbers and words that are what the columns say.

#include <cmath>

#include "lockstep/data/formats/csv.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const CsvTable table = parse_csv(bytes, "fuzz.csv");
    check_array(table.values);
    const auto width = table.columns.size();
    if (width == 0 || (!table.names.empty() && table.names.size() != width)) std::abort();
    const auto values = table.values.as<double>();
    if (values.size() != width * table.lines.size()) std::abort();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const CsvColumn& column = table.columns[i % width];
      if (std::isinf(values[i]) || (std::isnan(values[i]) && column.missing == 0)) std::abort();
      const bool word = !column.words.empty() && !std::isnan(values[i]);
      if (word && !(values[i] >= 0 && values[i] < static_cast<double>(column.words.size()))) std::abort();
    }
  });
}
