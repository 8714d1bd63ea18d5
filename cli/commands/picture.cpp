#include "cli/commands/picture.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/formats/image.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/data/sequences.hpp"
#include "lockstep/model/preparation.hpp"

namespace lockstep::cli {

namespace {

std::string steps_of(const Model& model) { return model.info.preparation.value_or(DataConfig()).as_sequence; }

/// The model's input as an image: [400] is taken as [1,20,20]. The steps of a sequence were its rows or columns.
ImageShape image_input(const Model& model) {
  const Shape& input = model.network.input();
  if (const std::string steps = steps_of(model); !steps.empty() && input.rank() == 2) {
    const std::int64_t channels = model.info.source_shape.size() == 3 ? model.info.source_shape[0] : 1;
    if (input[0] % channels == 0)
      return steps == "rows" ? ImageShape{channels, input[1], input[0] / channels}
                             : ImageShape{channels, input[0] / channels, input[1]};
  }
  if (input.rank() == 3) return {input[0], input[1], input[2]};
  if (input.rank() == 2) return {1, input[0], input[1]};
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(double(input.elements()))));
  if (side * side == input.elements()) return {1, side, side};
  throw Error(ErrorCode::usage, fmt::format("the model takes {}, which is no picture; give an .npy file", input.str()));
}

ImageColour colour_of(const ImageShape& image) {
  if (image.channels == 1) return ImageColour::grey;
  if (image.channels == 3) return ImageColour::rgb;
  throw Error(ErrorCode::usage,
              fmt::format("the model takes {}, a picture has 1 or 3", count_of(image.channels, "channel")));
}

/// Samples in double, so that inverting and scaling lose nothing.
Samples as_doubles(const Array& array, std::int64_t count, const Shape& shape) {
  Array features = make_array(ElementType::float64, {count, shape.elements()});
  const auto values = features.as<double>();
  for (std::int64_t i = 0; i < array.elements(); ++i) values[static_cast<std::size_t>(i)] = array.value(i);
  return {.features = std::move(features), .shape = shape, .targets = {}};
}

/// Upright, as pictures are, and of the size that the model takes. What a model was trained with to turn arrays upright
/// is for arrays; pictures of a model of pictures are turned as those were.
Samples read_picture(const std::string& path, const Model& model, Console& console) {
  const ImageShape wanted = image_input(model);
  const DataConfig trained = model.info.preparation.value_or(DataConfig());
  const Array image = read_image(path, colour_of(wanted));
  Samples samples = as_doubles(image, 1, {image.dims[0], image.dims[1], image.dims[2]});
  if (model.info.pictures && trained.transpose) samples = transpose_images(samples);
  const std::int64_t height = samples.shape[1], width = samples.shape[2];
  if (height == wanted.height && width == wanted.width) return samples;
  if (wanted.height != wanted.width)
    throw Error(ErrorCode::usage, fmt::format("{}: is {}x{}, the model takes {}x{}; resize it", path, height, width,
                                              wanted.height, wanted.width));
  const std::string method = trained.resize.size != 0 ? trained.resize.method : "bicubic";
  console.note(fmt::format("{}: resized from {}x{} to {}x{} ({}){}", one_line(path), height, width, wanted.height,
                           wanted.width, method, height == width ? "" : "; it is not square, so it is distorted"));
  return resize_images(samples, wanted.height, parse_resize_method(method));
}

/// How many samples of this shape, or of another with its numbers in the same order, the array holds; 0: none.
std::int64_t samples_in(const Array& array, const Shape& shape) {
  const std::int64_t count = array.elements() / shape.elements();
  const bool one = array.elements() == shape.elements();
  const bool several = array.rank() > 1 && array.dims[0] == count && count * shape.elements() == array.elements();
  if (!one && !several) return 0;
  const auto dims = std::span<const std::int64_t>(array.dims).subspan(several ? 1 : 0);
  return dims.size() > 4 || same_order(Shape(dims), shape) ? count : 0;
}

struct ReadArray {
  Samples samples;
  bool raw = false;  // in the form of the source of training
};

ReadArray read_array(const Array& array, const std::string& path, const Model& model) {
  const Shape& input = model.network.input();
  const Shape source{std::span<const std::int64_t>(model.info.source_shape)};
  if (const std::int64_t count = source.rank() > 0 ? samples_in(array, source) : 0; count > 0)
    return {.samples = as_doubles(array, count, source), .raw = true};
  const std::int64_t count = samples_in(array, input);
  if (count == 0)
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: holds {}, the model takes {}{}{}", path, array.describe(), input.str(),
                    source.rank() > 0 && source != input ? fmt::format(" or, as in training, {}", source.str()) : "",
                    array.elements() % input.elements() == 0
                        ? ", whose numbers stand in another order; save it in that shape, or give it with --data "
                          "and data.layout"
                        : "; give that shape or [samples, ...]"));
  const Shape shape = input.rank() > 1 && steps_of(model).empty() ? image_input(model).shape() : input;
  return {.samples = as_doubles(array, count, shape)};
}

/// Numbers that are no fractions of white.
bool above_one(const Samples& samples) {
  const auto numbers = samples.features.as<double>();
  return std::any_of(numbers.begin(), numbers.end(), [](double x) { return x > 1; });
}

void invert(Samples& samples, double white) {
  for (double& x : samples.features.as<double>()) x = white - x;
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
  bool bytes = true, raw = false, picture = false;
  if (lower_case(ending) == ".npy") {
    const Array array = read_npy(path);
    bytes = array.type == ElementType::uint8;
    ReadArray read = read_array(array, path, model);
    samples = std::move(read.samples);
    raw = read.raw;
  } else if (is_image_name(path)) {
    samples = read_picture(path, model, console);
    picture = true;
  } else {
    throw Error(ErrorCode::usage, fmt::format("{}: predict reads .png, .jpg and .npy files here", path));
  }
  if (model.info.lengths)
    console.note(
        fmt::format("{}: all of its steps count; the lengths of sequences come with --data (.ts, .npz)", path));
  const double white = bytes || above_one(samples) ? 255 : 1;
  if (options.invert) invert(samples, white);
  if (const Shape& s = samples.shape; options.transpose && raw && s.rank() > 1 && s[s.rank() - 2] != s[s.rank() - 1])
    throw Error(ErrorCode::usage,
                fmt::format("{}: --transpose of samples {} does not give the shape of the samples that "
                            "the model was trained on",
                            path, s.str()));
  if (options.transpose)
    samples = transpose_images(samples.shape.rank() > 1 ? samples : as_image(std::move(samples), model));
  if (const std::string steps = steps_of(model); picture && !steps.empty())
    samples = image_steps(std::move(samples), steps);
  const std::shared_ptr<const StoredDataset> data =
      raw ? arrange_as_trained(model.info, std::move(samples.features), path)
          : std::make_shared<MemoryDataset>(std::move(samples.features), samples.shape, Targets{}, path);
  const std::optional<Scaling> trained = scaling_of(model.info);
  if (!trained) return data;
  if (!trained->fits(data->features()))
    throw Error(ErrorCode::checkpoint, "the model's scaling does not fit its input; the file is damaged");
  const ElementType type = bytes ? ElementType::uint8 : ElementType::float64;
  return data->scaled(*scaling_for(model.info, type, white, data->features()));
}

}  // namespace lockstep::cli
