#include "lockstep/model/onnx_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kMostNodes = 100'000, kMostDims = 8;

/// A field of a message: its number, and its value by its wire type.
struct WireField {
  std::int64_t number = 0;
  int wire = 0;
  std::uint64_t integer = 0;           // varint, 32 and 64 bits
  std::span<const std::byte> bytes{};  // length-delimited
};

/// The fields of a message, one after another.
class WireFields {
 public:
  explicit WireFields(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool next(WireField& field) {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    field = {.number = static_cast<std::int64_t>(key >> 3), .wire = static_cast<int>(key & 7)};
    if (field.number < 1 || field.number > (1 << 29)) fail_onnx("no ONNX file: a field has an impossible number");
    switch (field.wire) {
      case 0:
        field.integer = varint();
        break;
      case 1:
        field.integer = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.integer = fixed(4);
        break;
      default:
        fail_onnx(fmt::format("no ONNX file: a field has the wire type {}", field.wire));
    }
    return true;
  }
  bool empty() const { return rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail_onnx("no ONNX file: a number has more than 64 bits");
  }
  std::uint64_t fixed(std::size_t size) {
    const auto bytes = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
  }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > rest_.size()) fail_onnx("no ONNX file, or cut off: a field ends behind the end of the file");
    const auto part = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(part.size());
    return part;
  }

  std::span<const std::byte> rest_;
};

std::span<const std::byte> wire_message(const WireField& field) {
  if (field.wire != 2) fail_onnx(fmt::format("no ONNX file: field {} is no message", field.number));
  return field.bytes;
}
std::string wire_text(const WireField& field) {
  const auto bytes = wire_message(field);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::int64_t wire_integer(const WireField& field) {
  if (field.wire != 0) fail_onnx(fmt::format("no ONNX file: field {} is no whole number", field.number));
  return static_cast<std::int64_t>(field.integer);
}
double wire_real(const WireField& field) {
  if (field.wire != 5) fail_onnx(fmt::format("no ONNX file: field {} is no number of 32 bits", field.number));
  return double(std::bit_cast<float>(static_cast<std::uint32_t>(field.integer)));
}

/// A repeated number: one per field, or all of them packed into one.
void append_integers(const WireField& field, std::vector<std::int64_t>& out) {
  if (field.wire == 0) return out.push_back(static_cast<std::int64_t>(field.integer));
  for (WireFields packed(wire_message(field)); !packed.empty();)
    out.push_back(static_cast<std::int64_t>(packed.varint()));
}
template <class T>
void append_reals(const WireField& field, std::vector<T>& out) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (field.wire == (sizeof(T) == 4 ? 5 : 1)) return out.push_back(std::bit_cast<T>(static_cast<Bits>(field.integer)));
  for (WireFields packed(wire_message(field)); !packed.empty();)
    out.push_back(std::bit_cast<T>(static_cast<Bits>(packed.fixed(sizeof(T)))));
}

/// The numbers of a tensor, which stand in one of several fields.
struct TensorNumbers {
  std::span<const std::byte> raw{};
  bool has_raw = false;
  std::vector<float> floats{};
  std::vector<double> doubles{};
  std::vector<std::int64_t> int32s{}, int64s{};
};

template <class T, class From>
void fill(OnnxTensor& tensor, const TensorNumbers& numbers, const std::vector<From>& listed, std::int64_t count) {
  const auto size = static_cast<std::uint64_t>(count) * sizeof(T);
  if (numbers.has_raw ? numbers.raw.size() != size : static_cast<std::uint64_t>(listed.size()) != std::uint64_t(count))
    fail_onnx(
        fmt::format("the tensor {} holds another number of elements than its shape says", printable(tensor.name)));
  Array& array = tensor.array;
  array.type = element_type_of<T>();
  array.dims = tensor.dims;
  array.bytes.resize(static_cast<std::size_t>(size));
  if (numbers.has_raw) {
    std::copy(numbers.raw.begin(), numbers.raw.end(), array.bytes.begin());  // little-endian, as are we
    return;
  }
  const std::span<T> out = array.as<T>();
  std::transform(listed.begin(), listed.end(), out.begin(), [](From value) { return static_cast<T>(value); });
}

void settle_tensor(OnnxTensor& tensor, const TensorNumbers& numbers) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.dims) {
    if (extent < 0 || (extent > 0 && count > std::numeric_limits<std::int32_t>::max() / extent))
      fail_onnx(fmt::format("the tensor {} has an impossible shape", printable(tensor.name)));
    count *= extent;
  }
  if (tensor.type == onnx_float) fill<float>(tensor, numbers, numbers.floats, count);
  if (tensor.type == onnx_double) fill<double>(tensor, numbers, numbers.doubles, count);
  if (tensor.type == onnx_int32) fill<std::int32_t>(tensor, numbers, numbers.int32s, count);
  if (tensor.type == onnx_int64) fill<std::int64_t>(tensor, numbers, numbers.int64s, count);
}

// Numbers of fields: onnx.proto.

OnnxTensor parse_tensor(std::span<const std::byte> bytes) {
  OnnxTensor tensor;
  TensorNumbers numbers;
  bool elsewhere = false;
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) switch (field.number) {
      case 1:
        append_integers(field, tensor.dims);
        if (tensor.dims.size() > kMostDims) fail_onnx("a tensor has more than 8 dimensions");
        break;
      case 2:
        tensor.type = wire_integer(field);
        break;
      case 4:
        append_reals(field, numbers.floats);
        break;
      case 5:
        append_integers(field, numbers.int32s);
        break;
      case 6:
        tensor.strings.push_back(wire_text(field));
        break;
      case 7:
        append_integers(field, numbers.int64s);
        break;
      case 8:
        tensor.name = wire_text(field);
        break;
      case 9:
        numbers.raw = wire_message(field), numbers.has_raw = true;
        break;
      case 10:
        append_reals(field, numbers.doubles);
        break;
      case 13:
        elsewhere = true;
        break;
      case 14:
        elsewhere = elsewhere || wire_integer(field) != 0;
        break;
      default:
        break;
    }
  if (elsewhere)
    fail_onnx(fmt::format("the tensor {} stands in another file; save the model with its weights inside",
                          printable(tensor.name)));
  settle_tensor(tensor, numbers);
  return tensor;
}

std::pair<std::string, OnnxNodeAttribute> parse_attribute(std::span<const std::byte> bytes) {
  std::string name;
  OnnxNodeAttribute out;
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) switch (field.number) {
      case 1:
        name = wire_text(field);
        break;
      case 2:
        out.f = wire_real(field);
        break;
      case 3:
        out.i = wire_integer(field);
        break;
      case 4:
        out.s = wire_text(field);
        break;
      case 5:
        out.tensor = parse_tensor(wire_message(field));
        break;
      case 7: {
        std::vector<float> values;
        append_reals(field, values);
        out.floats.insert(out.floats.end(), values.begin(), values.end());
        break;
      }
      case 8:
        append_integers(field, out.ints);
        break;
      case 9:
        out.strings.push_back(wire_text(field));
        break;
      default:
        break;
    }
  return {name, std::move(out)};
}

OnnxNode parse_node(std::span<const std::byte> bytes) {
  OnnxNode node;
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) switch (field.number) {
      case 1:
        node.inputs.push_back(wire_text(field));
        break;
      case 2:
        node.outputs.push_back(wire_text(field));
        break;
      case 3:
        node.name = wire_text(field);
        break;
      case 4:
        node.operation = wire_text(field);
        break;
      case 5:
        node.attributes.insert(parse_attribute(wire_message(field)));
        break;
      case 7:
        node.domain = wire_text(field);
        break;
      default:
        break;
    }
  return node;
}

/// TensorShapeProto{dim = 1{dim_value = 1, dim_param = 2}}
std::vector<std::int64_t> parse_shape(std::span<const std::byte> bytes) {
  std::vector<std::int64_t> dims;
  WireField field, inner;
  for (WireFields fields(bytes); fields.next(field);) {
    if (field.number != 1) continue;
    if (dims.size() >= kMostDims) fail_onnx("an input has more than 8 dimensions");
    dims.push_back(-1);
    for (WireFields dim(wire_message(field)); dim.next(inner);)
      if (inner.number == 1 && wire_integer(inner) > 0) dims.back() = wire_integer(inner);
  }
  return dims;
}

/// ValueInfoProto{name = 1, type = 2{tensor_type = 1{elem_type = 1, shape = 2}}}
OnnxValue parse_value(std::span<const std::byte> bytes) {
  OnnxValue value;
  WireField field, type, tensor;
  for (WireFields fields(bytes); fields.next(field);) {
    if (field.number == 1) value.name = wire_text(field);
    if (field.number != 2) continue;
    for (WireFields types(wire_message(field)); types.next(type);) {
      if (type.number != 1) continue;
      for (WireFields parts(wire_message(type)); parts.next(tensor);) {
        if (tensor.number == 1) value.type = wire_integer(tensor);
        if (tensor.number == 2) value.dims = parse_shape(wire_message(tensor));
      }
    }
  }
  return value;
}

void parse_graph(std::span<const std::byte> bytes, OnnxFile& file) {
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) switch (field.number) {
      case 1:
        if (file.nodes.size() >= kMostNodes) fail_onnx(fmt::format("has more than {} nodes", kMostNodes));
        file.nodes.push_back(parse_node(wire_message(field)));
        break;
      case 5: {
        OnnxTensor tensor = parse_tensor(wire_message(field));
        const std::string name = tensor.name;
        if (!file.constants.emplace(name, std::move(tensor)).second)
          fail_onnx(fmt::format("the tensor {} stands there twice", printable(name)));
        break;
      }
      case 11:
        file.inputs.push_back(parse_value(wire_message(field)));
        break;
      case 12:
        file.outputs.push_back(parse_value(wire_message(field)));
        break;
      default:
        break;
    }
}

/// OperatorSetIdProto{domain = 1, version = 2}
void parse_opset(std::span<const std::byte> bytes, OnnxFile& file) {
  std::string domain;
  std::int64_t version = 0;
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) {
    if (field.number == 1) domain = wire_text(field);
    if (field.number == 2) version = wire_integer(field);
  }
  if (domain.empty() || domain == "ai.onnx") file.opset = version;
}

/// StringStringEntryProto{key = 1, value = 2}
void parse_entry(std::span<const std::byte> bytes, OnnxFile& file) {
  std::string key, value;
  WireField field;
  for (WireFields fields(bytes); fields.next(field);) {
    if (field.number == 1) key = wire_text(field);
    if (field.number == 2) value = wire_text(field);
  }
  file.metadata[key] = value;
}

}  // namespace

void fail_onnx(const std::string& what) { throw Error(ErrorCode::data, what); }

OnnxFile parse_onnx(std::span<const std::byte> bytes, std::string_view name) {
  try {
    OnnxFile file;
    bool graph = false;
    WireField field;
    for (WireFields fields(bytes); fields.next(field);) switch (field.number) {
        case 2:
          file.producer = wire_text(field);
          break;
        case 7:
          if (graph) fail_onnx("has two graphs");
          graph = true;
          parse_graph(wire_message(field), file);
          break;
        case 8:
          parse_opset(wire_message(field), file);
          break;
        case 14:
          parse_entry(wire_message(field), file);
          break;
        default:
          break;
      }
    if (!graph) fail_onnx("no ONNX file: it has no graph");
    return file;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

OnnxFile read_onnx(const std::filesystem::path& path) {
  return parse_onnx(read_file(path, std::numeric_limits<std::int32_t>::max()), path.string());
}

}  // namespace lockstep
