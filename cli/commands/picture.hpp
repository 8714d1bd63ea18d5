#pragma once
// A picture or an array from a file as samples for a model.

#include <memory>
#include <string>

#include "cli/output/console.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/model/model_file.hpp"

namespace lockstep::cli {

struct PictureOptions {
  bool invert = false;     // dark on light becomes light on dark: white - pixel
  bool transpose = false;  // height and width are swapped: for models trained on columns-first images
};

/// .png: turned grey or RGB and resized to the model's input (as in training; else bicubic), with a note on the
/// console; then scaled as the training data: bytes as bytes, or as fractions of white where that held fractions. .npy:
/// one sample or [samples, ...] in the form of the source of training, reshaped, transposed and resized as that was; or
/// inputs of the model. Bytes are treated like pixels; other numbers are scaled as the training data where that held
/// such numbers, and taken as ready inputs where it held bytes. Error(usage) when the model takes no images, or the
/// array does not fit its input; Error(data) for a bad file.
std::shared_ptr<const Dataset> load_picture(const std::string& path, const Model& model, const PictureOptions& options,
                                            Console& console);

}  // namespace lockstep::cli
