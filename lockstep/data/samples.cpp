#include "lockstep/data/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/sample_weights.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {

namespace {

// More classes than this are a label column chosen wrongly, and would size the network's last layer.
constexpr double kMaxClasses = 1 << 20;

void check_values(const Array& values, std::string_view name) {
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    if (!std::isfinite(values.value(i)))
      throw Error(ErrorCode::data, fmt::format("{}: sample {}: target {} is not finite", name,
                                               i / std::max<std::int64_t>(values.row_elements(), 1), values.value(i)));
  }
}

}  // namespace

const std::vector<std::string>& label_rule_names() {
  static const std::vector<std::string> names = {"as-stored", "digits", "from-one"};
  return names;
}

LabelRule parse_label_rule(std::string_view name) {
  const std::vector<std::string>& names = label_rule_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<LabelRule>(found - names.begin());
  throw Error(ErrorCode::usage,
              fmt::format("label_rule: unknown rule \"{}\", expected as-stored, digits or from-one", name));
}

LabelRule one_based_rule(std::int64_t count) { return count == 10 ? LabelRule::digits : LabelRule::from_one; }

double class_of_label(double label, LabelRule rule) {
  switch (rule) {
    case LabelRule::digits:
      return label == 10 ? 0 : label;
    case LabelRule::from_one:
      return label - 1;
    case LabelRule::as_stored:
      break;
  }
  return label;
}

std::int64_t Targets::size() const {
  return classes > 0 ? static_cast<std::int64_t>(labels.size()) : values.dims.front();
}

void Targets::gather_labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  if (classes == 0) throw Error(ErrorCode::bug, "data set: labels asked for, but it has none");
  check_ids(ids, size());
  for (std::size_t j = 0; j < ids.size(); ++j) out[j] = labels[static_cast<std::size_t>(ids[j])];
}

void Targets::gather_weights(std::span<const std::int64_t> ids, std::span<double> out) const {
  if (weights.empty()) throw Error(ErrorCode::bug, "data set: weights asked for, but it has none");
  check_ids(ids, std::ssize(weights));
  for (std::size_t j = 0; j < ids.size(); ++j) out[j] = weights[static_cast<std::size_t>(ids[j])];
}

template <class T>
void Targets::gather_values(std::span<const std::int64_t> ids, Matrix<T> t) const {
  if (target_size() == 0) throw Error(ErrorCode::bug, "data set: real targets asked for, but it has none");
  check_ids(ids, size());
  const std::int64_t row_bytes = target_size() * element_size(values.type);
  gather_rows(values.type, ids, Scaling{}, t, [&](auto some, std::span<const std::byte*> rows) {
    for (std::size_t j = 0; j < some.size(); ++j) rows[j] = values.bytes.data() + some[j] * row_bytes;
  });
}

template void Targets::gather_values(std::span<const std::int64_t>, Matrix<float>) const;
template void Targets::gather_values(std::span<const std::int64_t>, Matrix<double>) const;

std::string Targets::describe() const {
  const char* weighted = weights.empty() ? "" : ", weighted";
  if (classes > 0) return count_of(classes, "class", "classes") + weighted;
  return (target_size() > 0 ? fmt::format("targets [{}]", target_size()) : "no targets") + weighted;
}

LabelRule mat_label_rule(const Array& labels, std::int64_t classes) {
  double largest = 0;
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double label = labels.value(i);
    if (!(label >= 1)) return LabelRule::as_stored;
    largest = std::max(largest, label);
  }
  return one_based_rule(classes > 0 ? classes : static_cast<std::int64_t>(std::min(largest, kMaxClasses)));
}

Targets make_labels(const Array& labels, std::int64_t classes, LabelRule rule, std::string_view name) {
  Targets targets;
  targets.labels.resize(static_cast<std::size_t>(labels.elements()));
  const double limit = classes > 0 ? static_cast<double>(classes) : kMaxClasses;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double stored = labels.value(i);
    const double label = class_of_label(stored, rule);
    if (!(std::floor(label) == label))
      throw Error(
          ErrorCode::data,
          fmt::format("{}: sample {}: label {} is not an integer; for real targets set regression", name, i, stored));
    if (label < 0 && classes == 0)
      throw Error(ErrorCode::data,
                  fmt::format("{}: sample {}: label {} is negative; classes are integers from 0", name, i, stored));
    if (!(label >= 0 && label < limit))
      throw Error(ErrorCode::data, fmt::format("{}: sample {}: label {} is outside the {} classes 0..{}", name, i,
                                               stored, limit, limit - 1));
    targets.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(label);
    largest = std::max(largest, static_cast<std::int32_t>(label));
  }
  targets.classes = classes > 0 ? classes : std::int64_t{largest} + 1;
  return targets;
}

Targets make_values(Array values, std::string_view name) {
  check_values(values, name);
  if (values.rank() == 1) values.dims.push_back(1);
  Targets targets;
  targets.values = std::move(values);
  return targets;
}

void check_targets(const Targets& targets, std::int64_t samples, std::string_view name) {
  if (targets.classes <= 0 && !targets.labels.empty())
    throw Error(ErrorCode::data, fmt::format("{}: {} labels but {} classes; say how many there are", name,
                                             targets.labels.size(), targets.classes));
  const bool present = targets.classes > 0 || targets.target_size() > 0;
  if (present && targets.size() != samples)
    throw Error(ErrorCode::data, fmt::format("{}: {} samples but {} targets, one target per sample was expected", name,
                                             samples, targets.size()));
  for (std::size_t i = 0; i < targets.labels.size(); ++i) {
    if (targets.labels[i] < 0 || targets.labels[i] >= targets.classes)
      throw Error(ErrorCode::data, fmt::format("{}: sample {}: label {} is outside the {} classes 0..{}", name, i,
                                               targets.labels[i], targets.classes, targets.classes - 1));
  }
  if (targets.classes == 0) check_values(targets.values, name);
  if (!targets.weights.empty() && std::ssize(targets.weights) != samples)
    throw Error(ErrorCode::data, fmt::format("{}: {} samples but {} weights, one weight per sample was expected", name,
                                             samples, targets.weights.size()));
  if (const std::string fault = weights_fault(targets.weights, "sample"); !fault.empty())
    throw Error(ErrorCode::data, fmt::format("{}: {}", name, fault));
}

void check_ids(std::span<const std::int64_t> ids, std::int64_t size) {
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size) {
      throw Error(ErrorCode::bug, fmt::format("data set: sample {} asked for, there are {}", id, size));
    }
  }
}

Shape sample_shape_of(std::span<const std::int64_t> dims, std::string_view name) {
  if (dims.empty() || dims.size() > 4)
    throw Error(ErrorCode::data,
                fmt::format("{}: features [{}], expected [samples], [samples,features], [samples,height,width] or "
                            "[samples,channels,height,width]",
                            name, fmt::join(dims, ",")));
  for (const std::int64_t extent : dims) {
    if (extent == 0) {
      throw Error(ErrorCode::data, fmt::format("{}: features [{}] hold no samples", name, fmt::join(dims, ",")));
    }
  }
  const auto rest = dims.subspan(1);
  if (rest.empty()) return {1};
  if (rest.size() == 2) return {1, rest[0], rest[1]};
  return Shape(rest);
}

ImageShape image_shape_of(const Shape& shape, std::string_view operation) {
  if (shape.rank() == 2) return {1, shape[0], shape[1]};
  if (shape.rank() == 3) return {shape[0], shape[1], shape[2]};
  throw Error(ErrorCode::usage, fmt::format("{}: samples {} are no images [channels,height,width], give data.shape",
                                            operation, shape.str()));
}

bool same_order(const Shape& stored, const Shape& wanted) {
  if (stored.elements() != wanted.elements()) return false;
  if (stored.rank() <= 1 || wanted.rank() <= 1) return true;
  const auto longer = [](const Shape& shape) {
    std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
    std::erase(extents, 1);
    return extents;
  };
  return longer(stored) == longer(wanted);
}

void check_input(const Shape& input, const Dataset& data) {
  const Shape shape = data.sample_shape();
  if (same_order(shape, input)) return;
  std::string message = fmt::format("the data has samples {} but the model input is {}", shape.str(), input.str());
  if (shape.elements() == input.elements()) {
    const bool channels_last = shape.rank() == 3 && input.rank() == 3 && Shape{shape[2], shape[0], shape[1]} == input;
    const bool turned = shape.rank() == input.rank() && shape.rank() >= 2 &&
                        shape[shape.rank() - 1] == input[input.rank() - 2] &&
                        shape[shape.rank() - 2] == input[input.rank() - 1];
    message += fmt::format("; say what is meant: {}data.shape = [{}] takes the numbers as they stand",
                           channels_last
                               ? "data.layout = \"nhwc\" turns height, width, channels into channels, height, width; "
                           : turned ? "data.transpose = true turns rows into columns; "
                                    : "data.layout says how the file stores samples (\"nchw\" or \"nhwc\"); ",
                           fmt::join(input.extents(), ", "));
  } else
    message += fmt::format("; {}",
                           shape.rank() == 1 && input.rank() == 1
                               ? fmt::format("write model.sizes = \"{}-...\" or model.input = [{}]", shape[0], shape[0])
                               : fmt::format("write model.input = [{}]", fmt::join(shape.extents(), ", ")));
  const bool pictures = shape.rank() == 3 && input.rank() == 3 && shape[0] == input[0] && input[1] == input[2];
  if (pictures) message += fmt::format("; data.resize = {} brings pictures to that size", input[1]);
  throw Error(ErrorCode::usage, message);
}

void channels_first(std::span<std::byte> images, const Shape& stored, std::int64_t element_size) {
  const std::int64_t pixels = stored[0] * stored[1], channels = stored[2];
  const auto bytes = static_cast<std::size_t>(stored.elements() * element_size);
  std::vector<std::byte> image(bytes);
  for (; !images.empty(); images = images.subspan(bytes)) {
    std::copy_n(images.begin(), bytes, image.begin());
    copy_transposed(image.data(), images.data(), channels, pixels, element_size);
  }
}

std::optional<Shape> channels_first_shape(const Shape& stored, bool channel_axis) {
  if (stored.rank() == 1)
    throw Error(
        ErrorCode::usage,
        fmt::format("data: layout = \"nhwc\", but samples {} are plain lists; give data.shape = [height, width, "
                    "channels] too",
                    stored.str()));
  if (stored.rank() == 2 || !channel_axis) return std::nullopt;
  return Shape{stored[2], stored[0], stored[1]};
}

namespace {

/// The first number that is not within [-largest, largest]; `count` where all are. In blocks without a branch: a set of
/// samples is hundreds of megabytes.
template <class T>
std::int64_t first_beyond(const T* values, std::int64_t count, T largest) {
  constexpr std::int64_t kBlock = 4096;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t end = std::min(count, first + kBlock);
    int beyond = 0;
    for (std::int64_t i = first; i < end; ++i) beyond |= static_cast<int>(!(std::abs(values[i]) <= largest));
    for (std::int64_t i = first; beyond != 0 && i < end; ++i)
      if (!(std::abs(values[i]) <= largest)) return i;
  }
  return count;
}

template <class T>
void check_numbers(std::span<const std::byte> bytes, std::int64_t row, std::string_view name,
                   std::span<const std::int64_t> ids, T largest = std::numeric_limits<T>::max()) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(T));
  const std::int64_t i = first_beyond(values, count, largest);
  if (i == count) return;
  const std::int64_t sample = ids.empty() ? i / row : ids[static_cast<std::size_t>(i / row)];
  const std::string where = fmt::format("{}: sample {}: feature {} is {}", name, sample, i % row, values[i]);
  if (std::isfinite(values[i]))
    throw Error(ErrorCode::data, where + ", which float32 cannot hold; the precision float64 can");
  throw Error(ErrorCode::data, where + ", a finite number was expected");
}

}  // namespace

void check_finite(const Array& features, std::string_view name) {
  if (features.type == ElementType::float32) check_numbers<float>(features.bytes, features.row_elements(), name, {});
  if (features.type == ElementType::float64) check_numbers<double>(features.bytes, features.row_elements(), name, {});
}

void check_finite(ElementType type, std::span<const std::byte> bytes, std::span<const std::int64_t> ids,
                  std::string_view name, Precision precision) {
  if (ids.empty()) return;
  const auto row = static_cast<std::int64_t>(bytes.size() / ids.size()) / element_size(type);
  if (type == ElementType::float32) check_numbers<float>(bytes, row, name, ids);
  const double largest =
      precision == Precision::float32 ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  if (type == ElementType::float64) check_numbers<double>(bytes, row, name, ids, largest);
}

}  // namespace lockstep
