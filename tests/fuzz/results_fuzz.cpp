// Any text as a file of results: refused with one line, or lines that are written again as they were read, and reports
// in every form. Names come out of files, so nothing of them may be markup in a page.

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "cli/ladder/report.hpp"
#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/report/write.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace lockstep;

void write_every_form(const report::Document& document) {
  const std::string page = report::to_html(document);
  if (page.find("<script") != std::string::npos || page.find("<img") != std::string::npos) std::abort();
  report::to_text(document);
  report::tables_json(document);
  for (const report::NamedTable& table : report::tables_of(document)) {
    report::table_csv(*table.table);
    report::extra_p_lines(table);
  }
}

/// What a command makes of results; it may miss some and say so.
void report_or_refuse(const std::function<report::Document()>& make) {
  report::Document document;
  try {
    document = make();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data || std::strchr(error.what(), '\n') != nullptr) std::abort();
    return;
  }
  write_every_form(document);
}

std::vector<Result> read_lines(std::string_view text) {
  std::vector<Result> results;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    results.push_back(result_from_json(text.substr(at, end - at), "fuzz"));
    const std::string line = to_json_line(results.back());
    if (to_json_line(result_from_json(line, "again")) != line) std::abort();
    at = end + 1;
  }
  return results;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_or_refuse(data, size, [](std::span<const std::byte> bytes) {
    const std::vector<Result> results = read_lines({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    report_or_refuse([&] { return report::results_document(results); });
    report_or_refuse([&] { return cli::ladder_document(results); });
  });
}
