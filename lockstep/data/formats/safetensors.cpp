#include "lockstep/data/formats/safetensors.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {
namespace {

template <class Fill>
Safetensors load_tensors(SafetensorsHeader header, const Fill& fill) {
  Safetensors contents{.metadata = std::move(header.metadata), .tensors = {}};
  for (SafetensorsEntry& entry : header.tensors) {
    Array array{entry.type, std::move(entry.dims), std::vector<std::byte>(static_cast<std::size_t>(entry.bytes))};
    fill(entry.offset, array.bytes);
    to_native_order(array.bytes, element_size(entry.type), std::endian::little);
    contents.tensors.push_back({std::move(entry.name), std::move(array)});
  }
  return contents;
}

SafetensorsHeader header_of(const File& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(kSafetensorsLengthBytes, file.size())));
  file.read_at(0, head);
  const std::int64_t length = safetensors_header_bytes(head, file.size(), file.name());
  head.resize(static_cast<std::size_t>(kSafetensorsLengthBytes + length));
  file.read_at(0, head);
  return parse_safetensors_header(head, file.size(), file.name());
}

std::string header_text(const Safetensors& contents) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!contents.metadata.empty()) header[kSafetensorsMetadataKey] = contents.metadata;
  std::set<std::string> names{kSafetensorsMetadataKey};
  std::int64_t offset = 0;
  for (const NamedArray& tensor : contents.tensors) {
    const Array& array = tensor.array;
    const auto size = static_cast<std::int64_t>(array.bytes.size());
    if (checked_product_of(array.dims, element_size(array.type)) != size)
      throw Error(ExitCode::bug, fmt::format("safetensors: {} holds {} bytes", printable(tensor.name), size));
    if (!names.insert(tensor.name).second)
      throw Error(ExitCode::bug, fmt::format("safetensors: the name {} is taken", printable(tensor.name)));
    nlohmann::ordered_json entry{
        {"dtype", safetensors_type(array.type)}, {"shape", array.dims}, {"data_offsets", {offset, offset + size}}};
    // The names are known to differ; looking each up in an ordered object would take a time quadratic in their number.
    header.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(tensor.name, std::move(entry));
    offset += size;
  }
  try {
    return header.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::bug, "safetensors: a name or a text of the metadata is not UTF-8");
  }
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> bytes, std::string_view name) {
  return load_tensors(parse_safetensors_header(bytes, static_cast<std::int64_t>(bytes.size()), name),
                      [&](std::int64_t offset, std::span<std::byte> out) {
                        const auto from = bytes.subspan(static_cast<std::size_t>(offset), out.size());
                        std::copy(from.begin(), from.end(), out.begin());
                      });
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) { return header_of(File(path)); }

Safetensors read_safetensors(const std::filesystem::path& path) {
  const File file(path);
  return load_tensors(header_of(file),
                      [&](std::int64_t offset, std::span<std::byte> out) { file.read_at(offset, out); });
}

std::vector<std::byte> write_safetensors(const Safetensors& contents) {
  std::string text = header_text(contents);
  // The data then begin at a multiple of 8, so that a mapped file can be read in place.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::vector<std::byte> out;
  std::size_t total = static_cast<std::size_t>(kSafetensorsLengthBytes) + text.size();
  for (const NamedArray& tensor : contents.tensors) total += tensor.array.bytes.size();
  out.reserve(total);
  append_number(out, static_cast<std::uint64_t>(text.size()));
  append_text(out, text);
  for (const NamedArray& tensor : contents.tensors) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    out.insert(out.end(), tensor.array.bytes.begin(), tensor.array.bytes.end());
    to_native_order(std::span(out).subspan(static_cast<std::size_t>(begin)), element_size(tensor.array.type),
                    std::endian::little);
  }
  return out;
}

}  // namespace lockstep
