#include "lockstep/lab/report/write.hpp"

#include <string>

#include "lockstep/core/file.hpp"
#include "lockstep/lab/report/data_files.hpp"
#include "lockstep/lab/report/html.hpp"

namespace lockstep::report {

std::vector<std::filesystem::path> write_report(const Document& document, const std::filesystem::path& folder,
                                                const FileOptions& options) {
  std::vector<std::filesystem::path> written;
  const auto write = [&](const std::string& name, const std::string& text) {
    written.push_back(folder / name);
    write_file_atomically(written.back(), text);
  };
  if (options.html) write(options.name + ".html", to_html(document));
  if (options.json) write(options.name + ".json", tables_json(document));
  for (const NamedTable& table : tables_of(document)) {
    if (options.csv) write(table.name + ".csv", table_csv(*table.table));
    if (!options.extra_p) continue;
    if (const std::string lines = extra_p_lines(table); !lines.empty()) write(table.name + ".extra-p.jsonl", lines);
  }
  return written;
}

}  // namespace lockstep::report
