#include "lockstep/data/formats/torch.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/pickle.hpp"

namespace lockstep {

namespace {

/// Of the pickle, about 200 bytes per tensor: its values take some 30 times as much memory.
constexpr std::int64_t kMostPickle = 8 * 1024 * 1024;

/// Tied weights are one storage for several tensors; each becomes an array of its own.
constexpr std::size_t kMostCopies = 16;

[[noreturn]] void refuse_torch(std::string_view file, const std::string& what) {
  throw Error(ErrorCode::data, fmt::format("{}: {}", file, what));
}

std::optional<ElementType> storage_type(std::string_view storage) {
  const std::map<std::string_view, ElementType> types = {{"torch\nFloatStorage", ElementType::float32},
                                                         {"torch\nDoubleStorage", ElementType::float64},
                                                         {"torch\nLongStorage", ElementType::int64},
                                                         {"torch\nIntStorage", ElementType::int32},
                                                         {"torch\nByteStorage", ElementType::uint8}};
  const auto found = types.find(storage);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// The archive's members; those of the dictionary lie in the folder of its pickle.
class TorchArchive {
 public:
  TorchArchive(std::span<const std::byte> bytes, std::string_view name)
      : bytes_(bytes), name_(name), entries_(parse_zip(bytes, name)) {
    const auto pickle = std::ranges::find_if(entries_, [](const ZipEntry& e) { return e.name.ends_with("data.pkl"); });
    if (pickle == entries_.end())
      refuse_torch(name,
                   "the archive has no data.pkl: it was not written by torch.save; for NumPy's arrays name it .npz");
    if (pickle->size > kMostPickle)
      refuse_torch(name, fmt::format("{} of {} bytes is too large", pickle->name, pickle->size));
    folder_ = pickle->name.substr(0, pickle->name.size() - std::string_view("data.pkl").size());
    if (const ZipEntry* order = find("byteorder")) {
      const std::vector<std::byte> text = extract_zip(bytes_, *order, name_);
      if (text.size() != 6 || std::memcmp(text.data(), "little", 6) != 0)
        refuse_torch(name_, "its numbers are not little-endian; save it again on such a machine");
    }
  }
  std::vector<std::byte> pickle() const { return unpack(*find("data.pkl")); }
  /// Unpacked once, however many tensors it holds.
  std::span<const std::byte> storage(std::string_view key) {
    if (const auto known = storages_.find(key); known != storages_.end()) return known->second;
    const ZipEntry* const entry = find(fmt::format("data/{}", key));
    if (entry == nullptr) refuse_torch(name_, fmt::format("the storage data/{} is missing", printable(key)));
    return storages_.emplace(key, unpack(*entry)).first->second;
  }
  std::string_view name() const { return name_; }

 private:
  std::vector<std::byte> unpack(const ZipEntry& entry) const {
    if (entry.deflated)
      refuse_torch(name_, fmt::format("{} is compressed, which torch.save does not do", printable(entry.name)));
    return extract_zip(bytes_, entry, name_);
  }
  const ZipEntry* find(const std::string& member) const {
    const auto found = std::ranges::find(entries_, folder_ + member, &ZipEntry::name);
    return found == entries_.end() ? nullptr : &*found;
  }

  std::span<const std::byte> bytes_;
  std::string_view name_;
  std::vector<ZipEntry> entries_;
  std::string folder_;
  std::map<std::string, std::vector<std::byte>, std::less<>> storages_;
};

/// The elements of a tensor in its storage: sizes, strides and offset are checked against it before anything is
/// allocated.
struct TensorLayout {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
};

std::vector<std::int64_t> numbers_of(const PickleValue& list, const TorchArchive& archive, const std::string& tensor) {
  constexpr std::size_t kMostDimensions = 8;
  std::vector<std::int64_t> numbers;
  for (const PickleValue* each : list.items) {
    if (each->kind != PickleKind::number || each->number < 0 || list.items.size() > kMostDimensions)
      refuse_torch(archive.name(), fmt::format("{} has sizes or strides that are none", printable(tensor)));
    numbers.push_back(each->number);
  }
  return numbers;
}

void check_layout(const TensorLayout& layout, std::int64_t held, const TorchArchive& archive,
                  const std::string& tensor) {
  const auto fail = [&] {
    refuse_torch(archive.name(), fmt::format("{} does not fit its storage of {} numbers", printable(tensor), held));
  };
  if (layout.sizes.size() != layout.strides.size() || layout.offset < 0 || layout.offset > held) fail();
  std::int64_t elements = 1, last = layout.offset;
  for (std::size_t d = 0; d < layout.sizes.size(); ++d) {
    if (layout.sizes[d] == 0) return;
    if (elements > held / layout.sizes[d]) fail();  // also where strides of 0 would make much of little
    elements *= layout.sizes[d];
    if (layout.sizes[d] > 1 && layout.strides[d] > (held - last) / (layout.sizes[d] - 1)) fail();
    last += (layout.sizes[d] - 1) * layout.strides[d];
  }
  if (last >= held) fail();
}

/// Row-major.
Array gather_tensor(const TensorLayout& layout, ElementType type, std::span<const std::byte> storage) {
  Array array = make_array(type, layout.sizes);
  const auto width = static_cast<std::int64_t>(element_size(type));
  std::vector<std::int64_t> index(layout.sizes.size(), 0);
  std::int64_t place = layout.offset;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    std::memcpy(array.bytes.data() + i * width, storage.data() + place * width, static_cast<std::size_t>(width));
    for (std::size_t d = index.size(); d-- > 0;) {
      place += layout.strides[d];
      if (++index[d] < layout.sizes[d]) break;
      place -= layout.strides[d] * layout.sizes[d];
      index[d] = 0;
    }
  }
  return array;
}

NamedArray tensor_of(TorchArchive& archive, const std::string& name, const PickleValue& tensor) {
  const PickleValue& storage = *tensor.items[0];
  const std::string_view type_name = storage.items[0]->text;
  const std::optional<ElementType> type = storage_type(type_name);
  if (!type)
    refuse_torch(archive.name(), fmt::format("{} is a {}; convert it: model.float().state_dict()", printable(name),
                                             printable(type_name.substr(type_name.find('\n') + 1))));
  const std::span<const std::byte> bytes = archive.storage(storage.items[1]->text);
  const TensorLayout layout{numbers_of(*tensor.items[2], archive, name), numbers_of(*tensor.items[3], archive, name),
                            tensor.items[1]->number};
  check_layout(layout, static_cast<std::int64_t>(bytes.size()) / static_cast<std::int64_t>(element_size(*type)),
               archive, name);
  return {name, gather_tensor(layout, *type, bytes)};
}

/// The dictionary of tensors: the root, or what checkpoints call the weights.
const PickleValue& state_dict(const PickleValue& root, std::string_view file) {
  if (root.kind != PickleKind::dict)
    refuse_torch(file, "it holds no dictionary of tensors; save torch.save(model.state_dict(), path)");
  for (std::size_t i = 0; i < root.items.size(); i += 2)
    for (const char* key : {"state_dict", "model_state_dict", "model"})
      if (root.items[i]->kind == PickleKind::text && root.items[i]->text == key &&
          root.items[i + 1]->kind == PickleKind::dict)
        return *root.items[i + 1];
  return root;
}

}  // namespace

std::vector<NamedArray> parse_torch(std::span<const std::byte> bytes, std::string_view name) {
  if (bytes.size() < 2 || std::memcmp(bytes.data(), "PK", 2) != 0)
    refuse_torch(name,
                 "it is no archive of PyTorch 1.6 or later; load and save it again there, or save it as .safetensors");
  TorchArchive archive(bytes, name);
  const std::vector<std::byte> code = archive.pickle();
  const Pickle pickle(code, name);
  std::vector<NamedArray> arrays;
  std::size_t total = 0;
  const PickleValue& dict = state_dict(pickle.root(), name);
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    const PickleValue &key = *dict.items[i], &value = *dict.items[i + 1];
    if (key.kind != PickleKind::text || value.kind != PickleKind::tensor)
      refuse_torch(name,
                   fmt::format("{} is no tensor; save the weights alone: torch.save(model.state_dict(), path)",
                               key.kind == PickleKind::text ? printable(key.text) : "an entry of its dictionary"));
    arrays.push_back(tensor_of(archive, std::string(key.text), value));
    total += arrays.back().array.bytes.size();
    if (total / kMostCopies > bytes.size()) refuse_torch(name, "its tensors share their storages too often");
  }
  return arrays;
}

std::vector<NamedArray> read_torch(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path, std::numeric_limits<std::int64_t>::max());
  return parse_torch(bytes, path.string());
}

}  // namespace lockstep
