#pragma once
// Charts as HTML figures: title, drawing, legend, note. Inner to the report writer.

#include <string>

#include "lockstep/lab/report/chart.hpp"

namespace lockstep::report {

/// A whole <figure>; `name` makes its ids unique in the page, `small` draws it for half the width of the page.
std::string figure_html(const Chart& chart, const std::string& name, bool small = false);

}  // namespace lockstep::report
