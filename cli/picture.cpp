#include "cli/picture.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "cli/model_data.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/npy.hpp"
#include "lockstep/data/png.hpp"
#include "lockstep/data/resize.hpp"

namespace lockstep::cli {

namespace {

/// The model's input as an image: [400] is taken as [1,20,20].
ImageShape image_input(const Model& model) {
  const Shape& input = model.network.input();
  if (input.rank() == 3) return {input[0], input[1], input[2]};
  if (input.rank() == 2) return {1, input[0], input[1]};
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(double(input.elements()))));
  if (side * side == input.elements()) return {1, side, side};
  throw Error(ExitCode::usage, fmt::format("the model takes {}, which is no picture; give an .npy file", input.str()));
}

PngColour colour_of(const ImageShape& image) {
  if (image.channels == 1) return PngColour::grey;
  if (image.channels == 3) return PngColour::rgb;
  throw Error(ExitCode::usage, fmt::format("the model takes {} channels, a picture has 1 or 3", image.channels));
}

/// Samples in double, so that inverting and scaling lose nothing.
Samples as_doubles(const Array& array, std::int64_t count, const Shape& shape) {
  Array features = make_array(ElementType::float64, {count, shape.elements()});
  const auto values = features.as<double>();
  for (std::int64_t i = 0; i < array.elements(); ++i) values[static_cast<std::size_t>(i)] = array.value(i);
  return {.features = std::move(features), .shape = shape, .targets = {}};
}

Samples read_picture(const std::string& path, const Model& model, Console& console) {
  const ImageShape wanted = image_input(model);
  const Array png = read_png(path, colour_of(wanted));
  const std::int64_t height = png.dims[1], width = png.dims[2];
  Samples samples = as_doubles(png, 1, {png.dims[0], height, width});
  if (height == wanted.height && width == wanted.width) return samples;
  if (wanted.height != wanted.width)
    throw Error(ExitCode::usage, fmt::format("{}: is {}x{}, the model takes {}x{}; resize it", path, height, width,
                                             wanted.height, wanted.width));
  console.note(fmt::format("{}: resized from {}x{} to {}x{} (bicubic){}", one_line(path), height, width, wanted.height,
                           wanted.width, height == width ? "" : "; it is not square, so it is distorted"));
  return resize_images(samples, wanted.height, ResizeMethod::bicubic);
}

Samples read_array(const Array& array, const std::string& path, const Model& model) {
  const Shape& input = model.network.input();
  const std::int64_t count = array.elements() / input.elements();
  const bool one = array.elements() == input.elements();
  const bool several = array.rank() > 1 && array.dims[0] == count && count * input.elements() == array.elements();
  if (!one && !several)
    throw Error(ExitCode::usage, fmt::format("{}: holds {}, the model takes {}; give that shape or [samples, ...]",
                                             path, array.describe(), input.str()));
  const auto dims = std::span(array.dims).subspan(several ? 1 : 0);
  if (dims.size() <= 4 && !same_order(Shape(dims), input))
    throw Error(ExitCode::usage, fmt::format("{}: holds {}, the model takes {}, whose numbers stand in another order; "
                                             "save it in that shape, or give it with --data and data.layout",
                                             path, array.describe(), input.str()));
  const bool image = input.rank() > 1;
  const Shape shape = image ? image_input(model).shape() : input;
  return as_doubles(array, count, shape);
}

/// raw = factor * x, or factor * (white - x).
void map_values(Samples& samples, bool invert, double white, double factor) {
  for (double& x : samples.features.as<double>()) x = factor * (invert ? white - x : x);
}

Samples as_image(Samples samples, const Model& model) {
  samples.shape = image_input(model).shape();
  return samples;
}

}  // namespace

std::shared_ptr<const Dataset> load_picture(const std::string& path, const Model& model, const PictureOptions& options,
                                            Console& console) {
  const std::string ending = std::filesystem::path(path).extension().string();
  Samples samples;
  bool bytes = true;
  if (ending == ".npy") {
    const Array array = read_npy(path);
    bytes = array.type == ElementType::uint8;
    samples = read_array(array, path, model);
  } else if (ending == ".png" || ending == ".PNG") {
    samples = read_picture(path, model, console);
  } else {
    throw Error(ExitCode::usage,
                fmt::format("{}: predict reads .png and .npy files; give rows of other data with --data", path));
  }
  const double trained = model.info.white;
  const bool ready = !bytes && trained == 255;  // fractions for a model of bytes
  map_values(samples, options.invert, bytes ? 255 : 1, bytes ? trained / 255 : 1);
  if (options.transpose) samples = transpose_images(as_image(std::move(samples), model));
  const auto data = std::make_shared<MemoryDataset>(std::move(samples.features), samples.shape, Targets{}, path);
  const std::optional<Scaling> scaling = scaling_of(model.info);
  if (!scaling || ready) return data;
  if (!scaling->fits(data->features()))
    throw Error(ExitCode::checkpoint, "the model's scaling does not fit its input; the file is damaged");
  return data->scaled(*scaling);
}

}  // namespace lockstep::cli
