#include "lockstep/lab/report/page_style.hpp"

namespace lockstep::report {

std::string_view page_style() { return "body{font:16px/1.5 system-ui,sans-serif}"; }

}  // namespace lockstep::report
