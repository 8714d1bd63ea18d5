#pragma once
// Tables of a page. Inner to the HTML writer.

#include <string>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

std::string table_html(const NamedTable& table);

}  // namespace lockstep::report
