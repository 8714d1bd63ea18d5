#include "python/src/samples.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/model/preparation.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

std::vector<std::int64_t> dims_of(const AnyArray& array) {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<std::int64_t>(array.shape(i)));
  return dims;
}

ElementType type_of(const AnyArray& array, const std::string& name) {
  const auto type = element_type_of(array.dtype());
  if (!type)
    throw Error(ErrorCode::usage,
                fmt::format("{}: numbers of this type cannot be read; {}.astype(np.float32) can", name, name));
  return *type;
}

/// Whether the elements behind the first axis lie one after another.
bool rows_are_contiguous(const AnyArray& array) {
  std::int64_t expected = 1;
  for (std::size_t i = array.ndim(); i-- > 1;) {
    if (array.shape(i) != 1 && array.stride(i) != expected) return false;
    expected *= static_cast<std::int64_t>(array.shape(i));
  }
  return true;
}

/// The elements, copied: labels and targets are small.
Array copy_of(const AnyArray& array, const std::string& name) {
  Array copy = make_array(type_of(array, name), dims_of(array));
  if (!rows_are_contiguous(array))
    throw Error(ErrorCode::usage, fmt::format("{0} is not in C order; np.ascontiguousarray({0}) is", name));
  if (copy.elements() == 0) return copy;
  const std::int64_t width = element_size(copy.type), row = copy.row_elements() * width;
  const auto* data = static_cast<const std::byte*>(array.data());
  const std::int64_t rows = array.ndim() == 0 ? 1 : copy.dims[0];
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(copy.bytes.data() + i * row, data + (rows > 1 ? i * array.stride(0) * width : 0),
                static_cast<std::size_t>(row));
  return copy;
}

std::string shape_text(const AnyArray& array) { return fmt::format("[{}]", fmt::join(dims_of(array), ",")); }

/// check_input in the words of NumPy.
void check_shape(const Shape& input, const Dataset& data, const std::string& name) {
  const Shape shape = data.sample_shape();
  if (same_order(shape, input)) return;
  std::string cure;
  if (shape.elements() == input.elements()) {
    const bool channels_last = shape.rank() == 3 && input.rank() == 3 && Shape{shape[2], shape[0], shape[1]} == input;
    if (channels_last)
      cure = fmt::format("; np.ascontiguousarray({}.transpose(0, 3, 1, 2)) has the channels first", name);
    else
      cure = fmt::format("; {0}.reshape(len({0}), {1}) takes the numbers as they stand", name,
                         fmt::join(input.extents(), ", "));
  }
  throw Error(ErrorCode::usage, fmt::format("{} has samples of the shape {}, and the network takes {}{}", name,
                                            shape.str(), input.str(), cure));
}

/// Labels where the loss counts classes, numbers otherwise.
Targets targets_of(const AnyArray& y, const Network& network, Loss loss, const std::string& name) {
  const std::int64_t outputs = network.output().elements();
  const bool whole = y.dtype().code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  const bool column = y.ndim() == 2 && y.shape(1) == 1;
  if (y.ndim() == 0 || y.ndim() > 2)
    throw Error(ErrorCode::data, fmt::format("{}: one number, or one row of numbers, per sample was expected, not {}",
                                             name, shape_text(y)));
  if (is_of_softmax(loss) && y.ndim() == 2)
    throw Error(
        ErrorCode::usage,
        fmt::format("{0}: cross-entropy takes a class per sample, not {1}; {2}", name, shape_text(y),
                    column ? name + ".ravel() has them" : name + ".argmax(axis=1) makes them from one-hot rows"));
  const bool labels = is_of_softmax(loss) || (whole && y.ndim() == 1 && outputs > 1) ||
                      (whole && y.ndim() == 1 && loss == Loss::binary_cross_entropy);
  if (!labels) return make_values(copy_of(y, name), name);
  return make_labels(copy_of(y, name), outputs == 1 ? 2 : outputs, LabelRule::as_stored, name);
}

/// One weight per sample; check_targets looks at the numbers.
std::vector<double> weights_of(const AnyArray& given, std::int64_t samples) {
  const Array array = copy_of(given, "sample_weight");
  if (given.ndim() != 1 || array.dims[0] != samples)
    throw Error(ErrorCode::data, fmt::format("sample_weight: one number for each of the {} was expected, not {}",
                                             count_of(samples, "sample"), shape_text(given)));
  std::vector<double> weights;
  for (std::int64_t i = 0; i < samples; ++i) weights.push_back(array.value(i));
  return weights;
}

/// The features of samples as the network would get them, for Python to look at.
nb::object features_of(const Samples& samples) {
  const Dataset& data = *samples.data;
  const std::int64_t count = data.size(), features = data.features();
  auto* out = new float[static_cast<std::size_t>(std::max<std::int64_t>(count * features, 1))];
  nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  constexpr std::int64_t kBlock = 256;
  std::vector<float> block(static_cast<std::size_t>(features * kBlock));
  std::vector<std::int64_t> ids;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t wide = std::min(kBlock, count - first);
    ids.resize(static_cast<std::size_t>(wide));
    std::iota(ids.begin(), ids.end(), first);
    data.gather(ids, dense_matrix(block.data(), features, wide));
    for (std::int64_t j = 0; j < wide; ++j)
      for (std::int64_t f = 0; f < features; ++f)
        out[(first + j) * features + f] = block[static_cast<std::size_t>(f * wide + j)];
  }
  std::vector<std::size_t> shape{static_cast<std::size_t>(count)};
  const Shape sample = data.sample_shape();
  for (const std::int64_t extent : sample.extents()) shape.push_back(static_cast<std::size_t>(extent));
  return nb::cast(nb::ndarray<nb::numpy, float>(out, shape.size(), shape.data(), owner));
}

nb::object targets_of_samples(const Samples& samples) {
  const Dataset& data = *samples.data;
  const auto count = static_cast<std::size_t>(data.size());
  std::vector<std::int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  if (data.classes() > 0) {
    auto* out = new std::int32_t[std::max<std::size_t>(count, 1)];
    nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<std::int32_t*>(p); });
    data.labels(ids, {out, count});
    return nb::cast(nb::ndarray<nb::numpy, std::int32_t>(out, {count}, owner));
  }
  if (data.target_size() == 0) return nb::none();
  const auto size = static_cast<std::size_t>(data.target_size());
  auto* out = new double[std::max<std::size_t>(count * size, 1)];
  nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::vector<double> columns(count * size);
  data.targets(ids, dense_matrix(columns.data(), data.target_size(), data.size()));
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t k = 0; k < size; ++k) out[j * size + k] = columns[k * count + j];
  return nb::cast(nb::ndarray<nb::numpy, double>(out, {count, size}, owner));
}

/// The parts of a source as (train, validation, test): None for a part that it does not have.
nb::tuple load(const std::string& source, const std::vector<std::string>& set) {
  DataConfig config = make_data_config(source, set);
  DataSplits splits;
  {
    nb::gil_scoped_release release;
    splits = load_data(config);
  }
  const auto part = [&](const std::shared_ptr<const Dataset>& data) {
    return data ? nb::cast(Samples{data, config, splits}) : nb::object(nb::none());
  };
  return nb::make_tuple(part(splits.train), part(splits.validation), part(splits.test));
}

}  // namespace

std::optional<ElementType> element_type_of(const nb::dlpack::dtype& type) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(Code::Float, 32)) return ElementType::float32;
  if (is(Code::Float, 64)) return ElementType::float64;
  constexpr ElementType kUnsigned[] = {ElementType::uint8, ElementType::uint16, ElementType::uint32,
                                       ElementType::uint64};
  constexpr ElementType kSigned[] = {ElementType::int8, ElementType::int16, ElementType::int32, ElementType::int64};
  for (int i = 0; i < 4; ++i) {
    if (is(Code::UInt, 8 << i)) return kUnsigned[i];
    if (is(Code::Int, 8 << i)) return kSigned[i];
  }
  return std::nullopt;
}

ArrayDataset::ArrayDataset(AnyArray features, Targets targets, Scaling scaling, const std::string& name)
    : owner_(std::move(features)),
      data_(static_cast<const std::byte*>(owner_.data())),
      type_(type_of(owner_, name)),
      targets_(std::move(targets)),
      scaling_(std::move(scaling)) {
  const std::vector<std::int64_t> dims = dims_of(owner_);
  if (dims.empty())
    throw Error(ErrorCode::data, fmt::format("{}: an array of samples was expected, not one number", name));
  size_ = dims[0];
  shape_ = sample_shape_of(dims, name);
  const std::int64_t width = element_size(type_), sample = shape_.elements() * width;
  if (!rows_are_contiguous(owner_))
    throw Error(ErrorCode::usage, fmt::format("{0} is not in C order; np.ascontiguousarray({0}) is", name));
  row_stride_ = size_ > 1 ? owner_.stride(0) * width : sample;
  if (reinterpret_cast<std::uintptr_t>(data_) % static_cast<std::uintptr_t>(width) != 0)
    throw Error(ErrorCode::usage, fmt::format("{0} is not aligned in memory; {0}.copy() is", name));
  check_targets(targets_, size_, name);
}

void ArrayDataset::check_numbers(const std::string& name, Precision precision) const {
  const std::int64_t sample = shape_.elements() * element_size(type_);
  const bool dense = row_stride_ == sample;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(dense ? size_ : 1));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  if (dense) return check_finite(type_, {data_, static_cast<std::size_t>(size_ * sample)}, ids, name, precision);
  for (ids[0] = 0; ids[0] < size_; ++ids[0])
    check_finite(type_, {data_ + ids[0] * row_stride_, static_cast<std::size_t>(sample)}, ids, name, precision);
}

void ArrayDataset::check_pictures() const {
  if (type_ != ElementType::uint8) return;
  const auto is_more = [](std::byte value) { return value > std::byte{1}; };
  for (std::int64_t i = 0; i < size_; ++i)
    if (const std::byte* row = data_ + i * row_stride_; std::any_of(row, row + shape_.elements(), is_more)) return;
  throw Error(
      ErrorCode::data,
      "x holds the bytes 0 and 1 alone, and bytes are taken for pictures from 0 to 255; x.astype(np.float32) is "
      "taken as the numbers 0 and 1, x * np.uint8(255) as black and white");
}

template <class T>
void ArrayDataset::gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const {
  check_ids(ids, size_);
  std::array<const std::byte*, kRowTile> rows{};
  const auto tile = static_cast<std::size_t>(kRowTile);
  for (std::size_t first = 0; first < ids.size(); first += tile) {
    const std::size_t count = std::min(tile, ids.size() - first);
    for (std::size_t j = 0; j < count; ++j) rows[j] = data_ + ids[first + j] * row_stride_;
    scatter_rows(type_, std::span(rows).first(count), scaling_, columns_from(x, static_cast<std::int64_t>(first)));
  }
}

std::string ArrayDataset::describe() const {
  return fmt::format("{} {} {}, {}", count_of(size_, "sample"), shape_.str(), to_string(type_), targets_.describe());
}

Scaling inputs_scaling(ElementType type, double white, const ModelInfo& info, std::int64_t features) {
  const auto trained = scaling_for(info, type, white, features);
  return trained.value_or(type == ElementType::uint8 ? Scaling(1.0 / 255) : Scaling());
}

Samples make_samples(const GivenArrays& given, const Network& network, const ModelInfo& info, std::optional<Loss> loss,
                     const std::string& name) {
  const AnyArray& x = given.x;
  Samples samples;
  samples.config.source = "an array";
  samples.splits.source_type = type_of(x, "x" + name);
  const std::vector<std::int64_t> dims = dims_of(x);
  const Shape& input = network.input();
  if (dims.size() == static_cast<std::size_t>(input.rank()) && std::ranges::equal(dims, input.extents()) &&
      dims[0] != 1)
    throw Error(ErrorCode::usage,
                fmt::format("x{0} has the shape {1} of one sample; x{0}[None] is a batch of one", name, input.str()));
  Targets targets;
  if (given.y) targets = targets_of(*given.y, network, loss.value_or(Loss::cross_entropy), "y" + name);
  if (given.weights) targets.weights = weights_of(*given.weights, dims.empty() ? 0 : dims[0]);
  const ArrayDataset raw(x, Targets{}, Scaling(), "x" + name);
  samples.splits.white = white_of(raw, samples.splits.source_type);
  samples.splits.scaling = inputs_scaling(samples.splits.source_type, samples.splits.white, info, raw.features());
  const auto data = std::make_shared<ArrayDataset>(x, std::move(targets), samples.splits.scaling, "x" + name);
  check_shape(network.input(), *data, "x" + name);
  data->check_numbers("x" + name, network.precision());
  samples.data = data;
  samples.splits.source_shape = samples.data->sample_shape();
  samples.splits.train = samples.data;
  return samples;
}

void bind_samples(nb::module_& module) {
  nb::class_<Samples>(module, "Samples")
      .def("__len__", [](const Samples& s) { return s.data->size(); })
      .def_prop_ro("shape",
                   [](const Samples& s) {
                     const Shape shape = s.data->sample_shape();
                     return std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end());
                   })
      .def_prop_ro("classes", [](const Samples& s) { return s.data->classes(); })
      .def_prop_ro("class_names", [](const Samples& s) { return s.splits.class_names; })
      .def_prop_ro("x", &features_of)
      .def_prop_ro("y", &targets_of_samples)
      .def("describe", [](const Samples& s) { return s.data->describe(); });
  module.def("load_data", &load);
}

}  // namespace lockstep::python
