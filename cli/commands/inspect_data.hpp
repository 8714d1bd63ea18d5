#pragma once

#include <string>

#include "cli/output/json.hpp"

namespace lockstep::cli {

/// The contents of a file, for people and as JSON.
struct Inspection {
  std::string text;
  Json json;
};

/// IDX, .mat, .npy, .npz, .csv, .png or a folder of class folders: arrays with their types, shapes and ranges. Of
/// arrays above a gigabyte in IDX and .npy files only the header is read.
Inspection inspect_data(const std::string& path);

}  // namespace lockstep::cli
