#pragma once
// One self-contained page: style and drawings within it, no scripts, nothing fetched, a content-security-policy that
// forbids both. It is read on a telephone, on a desk, in the dark and on paper; every drawing is there in two widths,
// and the style shows the one that fits.

#include <string>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

std::string to_html(const Document& document);

}  // namespace lockstep::report
