#pragma once

#include <nlohmann/json.hpp>

namespace lockstep::cli {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

}  // namespace lockstep::cli
