#pragma once
// lockstep inspect FILE...: what is in any file that Lockstep reads.

#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/output/json.hpp"

namespace lockstep::cli {

struct InspectArguments {
  std::vector<std::string> files;
  std::vector<std::string> set{};  // changes to configurations
};

/// Models (.safetensors), run directories, configurations (.toml) and data files (inspect_data.hpp).
void run_inspect(const InspectArguments& arguments, Console& console);

/// What is known about a file, for people and for machines.
struct Inspection {
  std::string text;
  Json json;
};

}  // namespace lockstep::cli
