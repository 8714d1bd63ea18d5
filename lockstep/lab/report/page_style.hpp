#pragma once
#include <string_view>

namespace lockstep::report {

/// The style sheet of every page.
std::string_view page_style();

}  // namespace lockstep::report
