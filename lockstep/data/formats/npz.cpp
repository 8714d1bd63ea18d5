#include "lockstep/data/formats/npz.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <zlib.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "lockstep/data/formats/npy.hpp"

namespace lockstep {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEndOfDirectory = 0x06054b50;
constexpr std::uint32_t kEndOfDirectory64 = 0x06064b50, kLocator64 = 0x07064b50, kElsewhere = 0xFFFFFFFF;
constexpr std::int64_t kLocalHeaderSize = 30, kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kMaxComment = 65535;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8 = 0x800;
constexpr std::uint16_t kExtra64 = 1;

struct Directory {
  std::int64_t offset = 0, size = 0, entries = 0;
};

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

std::uint64_t u64(ByteReader& reader, std::string_view what) {
  const std::uint64_t low = reader.u32(what);
  return low | (std::uint64_t{reader.u32(what)} << 32);
}

/// Error(data) for a size or place above `limit`.
std::int64_t checked_place(std::uint64_t value, std::int64_t limit, std::string_view name, std::int64_t at) {
  if (limit < 0 || value > static_cast<std::uint64_t>(limit))
    fail_data(name, at, "a ZIP64 size or place is beyond the file's end");
  return static_cast<std::int64_t>(value);
}

/// The ZIP64 end record, which the locator before the end record at `at` points to.
Directory find_directory64(const ByteSource& source, std::int64_t at, std::string_view name) {
  constexpr std::string_view kWhat = "the ZIP64 end record";
  const std::int64_t place = at - kLocatorSize;
  if (place < 0) fail_data(name, at, "the ZIP64 end record is missing");
  const std::vector<std::byte> locator_bytes = source.read(place, kLocatorSize);
  ByteReader locator(locator_bytes, name);
  if (locator.u32(kWhat) != kLocator64) fail_data(name, place, "the ZIP64 end record is missing");
  locator.take(4, kWhat);  // disk
  const std::int64_t record = checked_place(u64(locator, kWhat), place - kEnd64Size, name, place);
  const std::vector<std::byte> bytes = source.read(record, kEnd64Size);
  ByteReader reader(bytes, name);
  if (reader.u32(kWhat) != kEndOfDirectory64) fail_data(name, record, "no ZIP64 end record stands here");
  reader.take(20, kWhat);  // size, versions, disks
  const std::uint64_t here = u64(reader, kWhat), entries = u64(reader, kWhat);
  if (here != entries) fail_data(name, record, "the archive is split over several files");
  Directory directory;
  directory.entries = checked_place(entries, record, name, record);
  directory.size = checked_place(u64(reader, kWhat), record, name, record);
  directory.offset = checked_place(u64(reader, kWhat), record - directory.size, name, record);
  return directory;
}

Directory find_directory(const ByteSource& source, std::string_view name) {
  const std::int64_t size = source.size, first = std::max<std::int64_t>(0, size - kEndSize - kMaxComment);
  const std::vector<std::byte> tail = source.read(first, size - first);
  // The record is last but for a comment of unknown length; a true one ends exactly where its comment ends.
  for (std::int64_t at = size - kEndSize; at >= first; --at) {
    const std::span<const std::byte> rest(tail.data() + (at - first), tail.data() + tail.size());
    ByteReader reader(rest, name);
    if (reader.u32("the end record") != kEndOfDirectory) continue;
    const std::uint16_t disk = reader.u16("the end record"), first_disk = reader.u16("the end record");
    const std::uint16_t here = reader.u16("the end record"), entries = reader.u16("the end record");
    const std::uint32_t length = reader.u32("the end record"), offset = reader.u32("the end record");
    if (reader.u16("the end record") != size - at - kEndSize) continue;
    if (entries == 0xFFFF || length == kElsewhere || offset == kElsewhere) return find_directory64(source, at, name);
    if (disk != 0 || first_disk != 0 || here != entries) fail_data(name, at, "the archive is split over several files");
    if (std::int64_t{offset} + length > at) fail_data(name, at, "the central directory does not fit the file");
    return {offset, length, entries};
  }
  fail_data(name, size, "not a ZIP archive, or truncated: it has no end record");
}

/// Sizes and place beyond 4 GiB stand in the extra field 1, those of them that the entry has no room for, in this
/// order.
void read_extra64(std::span<const std::byte> extra, ZipEntry& entry, const Directory& directory, std::int64_t start,
                  std::string_view name) {
  constexpr std::string_view kWhat = "a ZIP64 field";
  const bool needed = entry.size == kElsewhere || entry.compressed == kElsewhere || entry.header_offset == kElsewhere;
  ByteReader fields(extra, name);
  while (needed && fields.remaining() >= 4) {
    const std::uint16_t kind = fields.u16(kWhat), length = fields.u16(kWhat);
    ByteReader field(fields.take(length, kWhat), name);
    if (kind != kExtra64) continue;
    for (std::int64_t* number : {&entry.size, &entry.compressed, &entry.header_offset}) {
      if (*number != kElsewhere) continue;
      const std::int64_t most = number == &entry.size ? std::numeric_limits<std::int64_t>::max() / 2 : directory.offset;
      *number = checked_place(u64(field, kWhat), most, name, start);
    }
    return;
  }
  if (needed) fail_data(name, start, "the ZIP64 sizes of the member are missing");
}

ZipEntry read_entry(ByteReader& reader, const Directory& directory) {
  const std::int64_t start = reader.offset();
  const auto fail = [&](std::string_view what) { fail_data(reader.name(), directory.offset + start, what); };
  constexpr std::string_view kWhat = "the central directory";
  if (reader.u32(kWhat) != kCentralHeader) fail("no entry of a central directory stands here");
  reader.take(4, kWhat);  // versions
  const std::uint16_t flags = reader.u16(kWhat), method = reader.u16(kWhat);
  reader.take(4, kWhat);  // time and date
  ZipEntry entry;
  entry.crc = reader.u32(kWhat);
  entry.compressed = reader.u32(kWhat);
  entry.size = reader.u32(kWhat);
  const std::uint16_t name_length = reader.u16(kWhat), extra = reader.u16(kWhat), comment = reader.u16(kWhat);
  reader.take(8, kWhat);  // disk, attributes
  entry.header_offset = reader.u32(kWhat);
  const auto raw_name = reader.take(name_length, kWhat);
  entry.name.assign(reinterpret_cast<const char*>(raw_name.data()), raw_name.size());
  read_extra64(reader.take(extra, kWhat), entry, directory, directory.offset + start, reader.name());
  reader.take(comment, kWhat);
  if ((flags & kEncrypted) != 0) fail("the member is encrypted");
  if (method != kStored && method != kDeflated) fail(fmt::format("unknown compression method {}", method));
  entry.deflated = method == kDeflated;
  if (!entry.deflated && entry.compressed != entry.size) fail("a stored member with two different sizes");
  if (entry.compressed > directory.offset - kLocalHeaderSize - entry.header_offset)
    fail("the member does not fit the archive");
  return entry;
}

/// The local header repeats the entry, with a length of extra fields of its own; its sizes may be placeholders.
std::int64_t find_data(const ByteSource& source, const ZipEntry& entry, std::string_view name) {
  const std::vector<std::byte> bytes = source.read(entry.header_offset, kLocalHeaderSize);
  ByteReader header(bytes, name);
  if (header.u32("a member's header") != kLocalHeader)
    fail_data(name, entry.header_offset, "no member's header stands where the central directory says");
  header.take(22, "a member's header");
  const std::uint16_t name_length = header.u16("a member's header"), extra = header.u16("a member's header");
  return entry.header_offset + kLocalHeaderSize + name_length + extra;
}

/// Every byte of the archive belongs to one member at most: else a small file could hold any number of large ones.
void check_overlaps(const std::vector<ZipEntry>& entries, std::int64_t end, std::string_view name) {
  std::vector<const ZipEntry*> by_place;
  for (const ZipEntry& entry : entries) by_place.push_back(&entry);
  std::sort(by_place.begin(), by_place.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header_offset < b->header_offset; });
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    const std::int64_t limit = i + 1 < by_place.size() ? by_place[i + 1]->header_offset : end;
    if (by_place[i]->data_offset + by_place[i]->compressed <= limit) continue;
    fail_data(name, by_place[i]->header_offset,
              fmt::format("the member \"{}\" overlaps what follows it, the file is damaged or made to do harm",
                          printable(by_place[i]->name)));
  }
}

}  // namespace

ByteSource source_of(std::span<const std::byte> bytes) {
  return {static_cast<std::int64_t>(bytes.size()), [bytes](std::int64_t offset, std::int64_t count) {
            const auto part = bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
            return std::vector<std::byte>(part.begin(), part.end());
          }};
}

std::vector<ZipEntry> parse_zip(std::span<const std::byte> bytes, std::string_view name) {
  return parse_zip(source_of(bytes), name);
}

std::vector<ZipEntry> parse_zip(const ByteSource& source, std::string_view name) {
  const Directory directory = find_directory(source, name);
  const std::vector<std::byte> list = source.read(directory.offset, directory.size);
  ByteReader reader(list, name);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  for (std::int64_t i = 0; i < directory.entries; ++i) {
    const std::int64_t start = directory.offset + reader.offset();
    entries.push_back(read_entry(reader, directory));
    if (!names.insert(entries.back().name).second) fail_data(name, start, "two members have the same name");
    entries.back().data_offset = find_data(source, entries.back(), name);
  }
  check_overlaps(entries, directory.offset, name);
  return entries;
}

namespace {

/// `data`: the member as it stands in the archive.
std::vector<std::byte> unpack(std::span<const std::byte> data, const ZipEntry& entry, std::string_view name) {
  const std::int64_t start = entry.data_offset;
  std::vector<std::byte> content;
  if (entry.deflated) {
    Inflater stream(data, Deflate::raw, name, start);
    content = stream.read_exactly(entry.size, "a member");
    stream.expect_end();
  } else {
    content.assign(data.begin(), data.end());
  }
  if (crc_of(content) != entry.crc) fail_data(name, start, "the checksum of the member is wrong, the file is damaged");
  return content;
}

}  // namespace

std::vector<std::byte> extract_zip(std::span<const std::byte> bytes, const ZipEntry& entry, std::string_view name) {
  return unpack(bytes.subspan(static_cast<std::size_t>(entry.data_offset), static_cast<std::size_t>(entry.compressed)),
                entry, name);
}

namespace {

void append_common(std::vector<std::byte>& out, const ZipMember& member, std::uint32_t crc) {
  const auto size = static_cast<std::uint32_t>(member.content.size());
  append_number<std::uint16_t>(out, 20);  // version 2.0 is enough to read it
  append_number<std::uint16_t>(out, kUtf8);
  append_number<std::uint16_t>(out, kStored);
  append_number<std::uint16_t>(out, 0);     // time
  append_number<std::uint16_t>(out, 0x21);  // 1 January 1980, the first date ZIP knows
  append_number(out, crc);
  append_number(out, size);
  append_number(out, size);
  append_number(out, static_cast<std::uint16_t>(member.name.size()));
  append_number<std::uint16_t>(out, 0);  // extra fields
}

}  // namespace

std::vector<std::byte> write_zip(std::span<const ZipMember> members) {
  std::vector<std::byte> out, directory;
  for (const ZipMember& member : members) {
    const std::uint32_t crc = crc_of(member.content);
    append_number(directory, kCentralHeader);
    append_number<std::uint16_t>(directory, 20);
    append_common(directory, member, crc);
    directory.resize(directory.size() + 10);  // comment, disk, attributes
    append_number(directory, static_cast<std::uint32_t>(out.size()));
    append_text(directory, member.name);
    append_number(out, kLocalHeader);
    append_common(out, member, crc);
    append_text(out, member.name);
    out.insert(out.end(), member.content.begin(), member.content.end());
    if (out.size() + directory.size() >= std::numeric_limits<std::uint32_t>::max() || members.size() >= 0xFFFF)
      throw Error(ErrorCode::resources, "a ZIP archive holds at most 4 GiB and 65534 members");
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out.insert(out.end(), directory.begin(), directory.end());
  append_number(out, kEndOfDirectory);
  append_number<std::uint32_t>(out, 0);  // disks
  append_number(out, static_cast<std::uint16_t>(members.size()));
  append_number(out, static_cast<std::uint16_t>(members.size()));
  append_number(out, static_cast<std::uint32_t>(directory.size()));
  append_number(out, start);
  append_number<std::uint16_t>(out, 0);
  return out;
}

namespace {

constexpr std::string_view kSuffix = ".npy";

std::string_view entry_key(const ZipEntry& entry) {
  const std::string_view name = entry.name;
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

}  // namespace

namespace {

ByteSource source_of_file(const std::filesystem::path& path) {
  const auto file = std::make_shared<const File>(path);
  return {file->size(), [file](std::int64_t offset, std::int64_t count) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(count));
            file->read_at(offset, bytes);
            return bytes;
          }};
}

}  // namespace

NpzReader::NpzReader(const std::filesystem::path& path) : NpzReader(source_of_file(path), path.string()) {}

NpzReader::NpzReader(ByteSource source, std::string_view name)
    : source_(std::move(source)), name_(name), entries_(parse_zip(source_, name)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!index_.emplace(entry_key(entries_[i]), i).second)
      fail_data(name_, entries_[i].header_offset,
                fmt::format("two members hold the array \"{}\"", printable(entry_key(entries_[i]))));
  }
}

std::vector<std::string> NpzReader::keys() const {
  std::vector<std::string> keys;
  for (const ZipEntry& entry : entries_) keys.emplace_back(entry_key(entry));
  return keys;
}

bool NpzReader::contains(std::string_view key) const { return index_.contains(key); }

Array NpzReader::read(std::string_view key) const { return parse_npy(extract(key), name_of(key)); }

std::optional<NpyText> NpzReader::read_text(std::string_view key) const {
  return parse_npy_text(extract(key), name_of(key));
}

std::string NpzReader::name_of(std::string_view key) const { return fmt::format("{}({})", name_, printable(key)); }

const ZipEntry& NpzReader::find(std::string_view key) const {
  const auto found = index_.find(key);
  if (found != index_.end()) return entries_[found->second];
  std::vector<std::string_view> names;
  for (const ZipEntry& entry : entries_) names.push_back(entry_key(entry));
  throw Error(ErrorCode::data,
              fmt::format("{}: no array \"{}\", there are: {}", name_, printable(key), printable_list(names)));
}

const ZipEntry& NpzReader::find_stored(std::string_view key) const {
  const ZipEntry& entry = find(key);
  if (entry.deflated)
    fail_data(name_of(key), entry.data_offset,
              "a compressed array cannot be read by slices; save it with numpy.savez, not savez_compressed");
  return entry;
}

std::vector<std::byte> NpzReader::extract(std::string_view key) const {
  const ZipEntry& entry = find(key);
  return unpack(source_.read(entry.data_offset, entry.compressed), entry, name_);
}

std::vector<NamedArray> read_npz(const std::filesystem::path& path) {
  const NpzReader reader(path);
  std::vector<NamedArray> arrays;
  for (const std::string& key : reader.keys()) arrays.push_back({key, reader.read(key)});
  return arrays;
}

std::vector<std::byte> write_npz(std::span<const NamedArray> arrays) {
  std::vector<ZipMember> members;
  for (const NamedArray& entry : arrays)
    members.push_back({fmt::format("{}{}", entry.name, kSuffix), write_npy(entry.array)});
  return write_zip(members);
}

}  // namespace lockstep
