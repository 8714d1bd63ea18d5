#pragma once
// Reports as files.

#include <filesystem>
#include <vector>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

struct FileOptions {
  bool html = true;      // report.html
  bool json = true;      // report.json: every cell of every table
  bool csv = false;      // <table>.csv
  bool extra_p = false;  // <table>.extra-p.jsonl, of tables that have parameters and metrics
  std::string name = "report";
};

/// Writes the files into the folder, which must be there, each of them atomically. Returns their paths, the page first.
std::vector<std::filesystem::path> write_report(const Document& document, const std::filesystem::path& folder,
                                                const FileOptions& options = {});

}  // namespace lockstep::report
