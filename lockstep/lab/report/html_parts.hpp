#pragma once
// The parts of a page. Inner to the HTML writer.

#include <string>
#include <string_view>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

std::string table_html(const NamedTable& table);

/// A chart as a whole <figure>: title, drawing, legend, note. `name` makes its ids unique in the page, `small` draws it
/// for half the width of the page.
std::string figure_html(const Chart& chart, const std::string& name, bool small = false);

/// The style sheet of every page.
std::string_view page_style();

}  // namespace lockstep::report
