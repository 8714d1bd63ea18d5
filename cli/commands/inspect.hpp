#pragma once
// lockstep inspect FILE...: what is in any file that Lockstep reads: models (.safetensors), run directories,
// configurations (.toml) and data files (inspect_data.hpp).

#include <string>

#include "cli/command_line/options.hpp"
#include "cli/output/json.hpp"

namespace lockstep::cli {

/// The contents of a file, for people and as JSON.
struct Inspection {
  std::string text;
  Json json;
};

RunCommand inspect_command(Options& options);

}  // namespace lockstep::cli
