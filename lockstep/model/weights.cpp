#include "lockstep/model/weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/torch.hpp"
#include "lockstep/model/onnx_import.hpp"
#include "lockstep/model/seal.hpp"
#include "lockstep/model/theta.hpp"

namespace lockstep {
namespace {

[[noreturn]] void refuse(std::string_view file, const std::string& what) {
  throw Error(ErrorCode::data, fmt::format("{}: {}", file, what));
}

std::string shape_of(const Array& array) { return fmt::format("[{}]", fmt::join(array.dims, ",")); }

bool has_shape(const Array& array, const Shape& shape) {
  const auto extents = shape.extents();
  return std::equal(array.dims.begin(), array.dims.end(), extents.begin(), extents.end());
}

/// What files of weights hold besides them: step counts of PyTorch, and the rest of a checkpoint. No parameter of ours
/// has such a name: they begin with the number of a layer.
bool is_bookkeeping(const std::string& name) {
  return name.ends_with(".num_batches_tracked") || name.starts_with("optimizer.") || name.starts_with("checkpoint.");
}

/// A state dictionary as torch.save writes it.
bool is_torch(const std::string& extension) { return extension == ".pt" || extension == ".pth"; }

/// The first few names of the file: enough to see what it is.
std::string contents(std::span<const NamedArray> arrays) {
  constexpr std::size_t kShown = 4;
  if (arrays.empty()) return "the file holds no array";
  std::string text = "the file holds";
  for (std::size_t i = 0; i < std::min(arrays.size(), kShown); ++i)
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", printable(arrays[i].name), shape_of(arrays[i].array));
  return arrays.size() > kShown ? fmt::format("{} and {} more", text, arrays.size() - kShown) : text;
}

void check_match(const Network& network, std::span<const NamedArray> arrays,
                 const std::map<std::string_view, const Array*>& by_name, std::string_view file) {
  for (const ParameterInfo& info : network.parameters()) {
    const auto found = by_name.find(info.name);
    if (found == by_name.end())
      refuse(file, fmt::format("{} {} of the network is missing; {}", info.name, info.shape.str(), contents(arrays)));
    const Array& array = *found->second;
    if (!has_shape(array, info.shape))
      refuse(file,
             fmt::format("{} is {} in the file but {} in the network", info.name, shape_of(array), info.shape.str()));
    if (array.type != ElementType::float32 && array.type != ElementType::float64)
      refuse(file, fmt::format("{} is {}; weights are float32 or float64", info.name, array.describe()));
  }
  std::set<std::string_view> known;
  for (const ParameterInfo& info : network.parameters()) known.insert(info.name);
  for (const NamedArray& entry : arrays) {
    if (!known.contains(entry.name) && !is_bookkeeping(entry.name))
      refuse(file, fmt::format("{} {} has no place in the network", printable(entry.name), shape_of(entry.array)));
  }
}

template <class T>
void copy_values(const Array& array, T* out) {
  visit_element_type(array.type, [&](auto stored) {
    const auto values = array.as<decltype(stored)>();
    std::transform(values.begin(), values.end(), out, [](auto value) { return static_cast<T>(value); });
  });
}

/// The weights of an imported network under the names of this one, where both have the same parameters one after
/// another: the numbers of layers differ where one of them has a dropout more.
std::vector<NamedArray> in_order(const Network& imported, const Network& network) {
  std::vector<NamedArray> arrays = named_weights(imported);
  if (arrays.size() == network.parameters().size())
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].name = network.parameters()[i].name;
  return arrays;
}

}  // namespace

std::vector<NamedArray> named_weights(std::span<const ParameterInfo> parameters, const ParameterValues& values) {
  std::vector<NamedArray> arrays;
  std::visit(
      [&](const auto& buffer) {
        for (const ParameterInfo& info : parameters) {
          const auto extents = info.shape.extents();
          const auto slice =
              buffer.span().subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.elements()));
          arrays.push_back({info.name, array_from({extents.begin(), extents.end()}, slice)});
        }
      },
      values);
  return arrays;
}

std::vector<NamedArray> named_weights(const Network& network) {
  return named_weights(network.parameters(), network.values());
}

void set_weights(Network& network, std::span<const NamedArray> arrays, std::string_view name) {
  std::map<std::string_view, const Array*> by_name;
  for (const NamedArray& entry : arrays)
    if (!by_name.emplace(entry.name, &entry.array).second)
      refuse(name, fmt::format("{} stands there twice", printable(entry.name)));
  check_match(network, arrays, by_name, name);
  std::visit(
      [&](auto& values) {
        for (const ParameterInfo& info : network.parameters())
          copy_values(*by_name.at(info.name), values.data() + info.offset);
      },
      network.values());
}

void load_mapped_weights(const std::filesystem::path& path, Network& network,
                         const std::vector<std::pair<std::string, std::string>>& map) {
  const std::string extension = path.extension().string(), file = path.string();
  if (extension != ".safetensors" && extension != ".npz" && extension != ".onnx" && !is_torch(extension))
    throw Error(ErrorCode::usage,
                fmt::format("{}: layers are taken by name from .safetensors, .npz, .pt, .pth or .onnx files", file));
  const std::vector<NamedArray> arrays = extension == ".npz"    ? read_npz(path)
                                         : is_torch(extension)  ? read_torch(path)
                                         : extension == ".onnx" ? onnx_weights(path)
                                                                : read_sealed(path).contents.tensors;
  std::vector<NamedArray> all = named_weights(network);
  std::set<std::string> given;
  for (const auto& [from, to] : map) {
    bool found = false;
    for (const NamedArray& entry : arrays) {
      if (!entry.name.starts_with(from + ".") || is_bookkeeping(entry.name)) continue;
      found = true;
      const std::string name = to + entry.name.substr(from.size());
      const auto place = std::ranges::find(all, name, &NamedArray::name);
      if (place == all.end())
        refuse(file,
               fmt::format("{} would be {}, which the network does not have", printable(entry.name), printable(name)));
      if (!given.insert(name).second) refuse(file, fmt::format("{} gets weights twice", printable(name)));
      place->array = entry.array;
    }
    if (!found) refuse(file, fmt::format("no array begins with {}.; {}", printable(from), contents(arrays)));
  }
  set_weights(network, all, file);
  if (!all_finite(network.values())) refuse(file, "holds weights that are not finite numbers");
}

void load_weights(const std::filesystem::path& path, Network& network, std::optional<LabelRule> rule) {
  const std::string extension = path.extension().string();
  if (extension == ".safetensors")
    set_weights(network, read_sealed(path).contents.tensors, path.string());
  else if (extension == ".npz")
    set_weights(network, read_npz(path), path.string());
  else if (is_torch(extension))
    set_weights(network, read_torch(path), path.string());
  else if (extension == ".mat")
    set_thetas(network, read_mat5(path), path.string(), rule);
  else if (extension == ".onnx")
    set_weights(network, in_order(load_onnx(path).network, network), path.string());
  else
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: weights are read from .safetensors, .npz, .pt, .pth, .mat or .onnx files", path.string()));
  if (!all_finite(network.values())) refuse(path.string(), "holds weights that are not finite numbers");
}

}  // namespace lockstep
