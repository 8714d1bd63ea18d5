#include "lockstep/data/formats/npz.hpp"

#include <cstring>
#include <ctime>

#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

std::vector<NamedArray> two_arrays() {
  return {{"x", array_from<float>({2, 2}, std::vector<float>{1, 2, 3, 4.5f})},
          {"y", array_from<std::int64_t>({2}, std::vector<std::int64_t>{7, -1})}};
}

struct Raw {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0, compressed = 0, size = 0;
  Bytes data;
};

/// An archive of one member x.npy, every field of it free.
Bytes archive_of(const Raw& raw) {
  Bytes out;
  const auto common = [&](std::uint32_t crc, std::uint32_t compressed, std::uint32_t size) {
    append_number<std::uint16_t>(out, 20);
    append_number(out, raw.flags);
    append_number(out, raw.method);
    append_number<std::uint32_t>(out, 0);
    append_number(out, crc);
    append_number(out, compressed);
    append_number(out, size);
    append_number<std::uint16_t>(out, 5);
  };
  append_text(out, "PK\x03\x04");
  common(0, 0xFFFFFFFF, 0xFFFFFFFF);  // as numpy.savez writes it: the sizes stand in a ZIP64 field
  append_number<std::uint16_t>(out, 20);
  append_text(out, "x.npy");
  out.resize(out.size() + 20);
  out.insert(out.end(), raw.data.begin(), raw.data.end());
  const auto directory = static_cast<std::uint32_t>(out.size());
  append_text(out, "PK\x01\x02");
  append_number<std::uint16_t>(out, 20);
  common(raw.crc, raw.compressed, raw.size);
  out.resize(out.size() + 2 + 2 + 8);
  append_number<std::uint32_t>(out, 0);
  append_text(out, "x.npy");
  const auto size = static_cast<std::uint32_t>(out.size()) - directory;
  append_text(out, "PK\x05\x06");
  append_number<std::uint32_t>(out, 0);
  append_number<std::uint16_t>(out, 1);
  append_number<std::uint16_t>(out, 1);
  append_number(out, size);
  append_number(out, directory);
  append_number<std::uint16_t>(out, 0);
  return out;
}

/// The CRC-32 of `content`, as the archive writer computes it.
std::uint32_t crc_of(const Bytes& content) {
  const std::vector<ZipMember> members{{"x.npy", content}};
  return parse_zip(write_zip(members), "z").front().crc;
}

Raw raw_of(const Bytes& content, bool deflated) {
  Raw raw;
  raw.method = deflated ? 8 : 0;
  raw.data = deflated ? deflate_bytes(content, Deflate::raw) : content;
  raw.crc = crc_of(content);
  raw.compressed = static_cast<std::uint32_t>(raw.data.size());
  raw.size = static_cast<std::uint32_t>(content.size());
  return raw;
}

TEST(Npz, GivesBackWhatWasWritten) {
  const Bytes bytes = write_npz(two_arrays());
  EXPECT_EQ(bytes, write_npz(two_arrays()));
  const NpzReader reader(bytes, "a.npz");
  EXPECT_EQ(reader.keys(), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(reader.contains("y"));
  EXPECT_FALSE(reader.contains("z"));
  EXPECT_EQ(reader.read("x").bytes, two_arrays()[0].array.bytes);
  EXPECT_EQ(reader.read("y").describe(), "int64 [2]");
  const TemporaryFolder folder;
  write_file(folder / "a.npz", bytes);
  EXPECT_EQ(read_npz(folder / "a.npz").size(), 2u);
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const Bytes npy = write_npy(two_arrays()[0].array);
  for (const bool deflated : {false, true}) {
    const Bytes bytes = archive_of(raw_of(npy, deflated));
    EXPECT_EQ(NpzReader(bytes, "a.npz").read("x").bytes, two_arrays()[0].array.bytes) << deflated;
  }
  const Bytes commented =
      with_byte(joined(archive_of(raw_of(npy, true)), to_bytes("hello")), archive_of(raw_of(npy, true)).size() - 2, 5);
  EXPECT_TRUE(NpzReader(commented, "a.npz").contains("x"));
}

/// An archive of one stored member as it is beyond 4 GiB: sizes and places stand in ZIP64 fields.
Bytes archive64_of(const Bytes& npy) {
  const Bytes plain = archive_of(raw_of(npy, false));
  const std::size_t central = plain.size() - 22 - 51;
  const auto at = [&](std::size_t offset) { return plain.begin() + static_cast<std::ptrdiff_t>(offset); };
  Bytes out(plain.begin(), at(central + 20));
  append_number<std::uint32_t>(out, 0xFFFFFFFF);  // the compressed size, and the size
  append_number<std::uint32_t>(out, 0xFFFFFFFF);
  append_number<std::uint16_t>(out, 5);   // length of the name
  append_number<std::uint16_t>(out, 32);  // of the extra fields
  out.insert(out.end(), at(central + 32), at(central + 42));
  append_number<std::uint32_t>(out, 0xFFFFFFFF);  // place of the local header
  append_text(out, "x.npy");
  append_number<std::uint16_t>(out, 7);  // a field of another kind
  append_number<std::uint16_t>(out, 0);
  append_number<std::uint16_t>(out, 1);
  append_number<std::uint16_t>(out, 24);
  append_number<std::uint64_t>(out, npy.size());
  append_number<std::uint64_t>(out, npy.size());
  append_number<std::uint64_t>(out, 0);
  const std::size_t record = out.size();
  append_text(out, "PK\x06\x06");
  append_number<std::uint64_t>(out, 44);
  out.resize(out.size() + 12);  // versions, disks
  append_number<std::uint64_t>(out, 1);
  append_number<std::uint64_t>(out, 1);
  append_number<std::uint64_t>(out, record - central);
  append_number<std::uint64_t>(out, central);
  append_text(out, "PK\x06\x07");
  append_number<std::uint32_t>(out, 0);
  append_number<std::uint64_t>(out, record);
  append_number<std::uint32_t>(out, 1);
  append_text(out, "PK\x05\x06");
  append_number<std::uint32_t>(out, 0);
  append_number<std::uint16_t>(out, 0xFFFF);
  append_number<std::uint16_t>(out, 0xFFFF);
  append_number<std::uint32_t>(out, 0xFFFFFFFF);
  append_number<std::uint32_t>(out, 0xFFFFFFFF);
  append_number<std::uint16_t>(out, 0);
  return out;
}

TEST(Npz, ReadsZip64) {
  const Bytes npy = write_npy(two_arrays()[0].array), good = archive64_of(npy);
  const NpzReader reader(good, "a.npz");
  EXPECT_EQ(reader.read("x").bytes, two_arrays()[0].array.bytes);
  EXPECT_EQ(reader.find_stored("x").size, static_cast<std::int64_t>(npy.size()));
  const std::size_t locator = good.size() - 22 - 20, record = locator - 56;
  const auto refuse = [&](std::string_view what, std::size_t at, int value) {
    const Bytes bad = with_byte(good, at, static_cast<std::uint8_t>(value));
    expect_data_error("a.npz: byte ", [&] { NpzReader(bad, "a.npz").read("x"); });
    try {
      NpzReader(bad, "a.npz").read("x");
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(what), std::string_view::npos) << error.what();
    }
  };
  refuse("the ZIP64 end record is missing", locator, 'Q');
  refuse("a ZIP64 size or place is beyond", locator + 15, 255);
  refuse("no ZIP64 end record stands here", record, 'Q');
  refuse("a ZIP64 size or place is beyond", record + 55, 255);
  refuse("a ZIP64 size or place is beyond", record - 17, 255);  // the member's compressed size is next
  refuse("the ZIP64 sizes of the member are missing", record - 28, 9);
}

TEST(Npz, CompressedArraysAreNotSliced) {
  const Bytes bytes = archive_of(raw_of(write_npy(two_arrays()[0].array), true));
  expect_data_error("a.npz(x): byte 55: a compressed array cannot be read by slices; save it with numpy.savez",
                    [&] { NpzReader(bytes, "a.npz").find_stored("x"); });
}

TEST(Npz, ListsWhatThereIs) {
  const Bytes bytes = write_npz(two_arrays());
  expect_data_error("a.npz: no array \"z\", there are: x, y", [&] { NpzReader(bytes, "a.npz").read("z"); });
}

TEST(Npz, RefusesBadArchives) {
  const Bytes npy = write_npy(two_arrays()[0].array);
  const auto refuse = [](std::string_view begin, const Bytes& bytes) {
    expect_data_error(begin, [&] { NpzReader(bytes, "a.npz").read("x"); });
  };
  refuse("a.npz: byte 0: not a ZIP archive", {});
  refuse("a.npz: byte 5: not a ZIP archive", to_bytes("hello"));
  const Bytes good = archive_of(raw_of(npy, true));
  const std::size_t end = good.size() - 22;
  refuse("a.npz: byte " + std::to_string(good.size() - 1) + ": not a ZIP archive", shortened(good, 1));
  const std::string at_end = "a.npz: byte " + std::to_string(end) + ": ";
  refuse(at_end + "the archive is split", with_byte(good, end + 4, 1));
  refuse(at_end + "the central directory does not fit", with_byte(good, end + 18, 0x40));
  refuse("a.npz: byte " + std::to_string(end - 20) + ": the ZIP64 end record is missing",
         with_byte(with_byte(with_byte(with_byte(good, end + 16, 255), end + 17, 255), end + 18, 255), end + 19, 255));
  const std::size_t central = end - 51;
  const std::string at_entry = "a.npz: byte " + std::to_string(central) + ": ";
  refuse(at_entry + "no entry of a central directory", with_byte(good, central, 'Q'));
  refuse(at_entry + "the member is encrypted", with_byte(good, central + 8, 1));
  refuse(at_entry + "unknown compression method 12", with_byte(good, central + 10, 12));
  refuse(at_entry + "the member does not fit the archive", with_byte(good, central + 42, 0xF0));
  refuse("a.npz: byte 0: no member's header stands", with_byte(good, 0, 'Q'));
  refuse("a.npz(x): byte 0: not a .npy file", archive_of(raw_of(to_bytes("hello world"), true)));

  const auto changed = [&](bool deflated, const std::function<void(Raw&)>& change) {
    Raw raw = raw_of(npy, deflated);
    change(raw);
    return archive_of(raw);
  };
  refuse(at_entry + "the ZIP64 sizes of the member are missing",
         changed(true, [](Raw& raw) { raw.size = 0xFFFFFFFF; }));
  refuse("a.npz: byte 199: a stored member with two different sizes", changed(false, [](Raw& raw) { raw.size -= 1; }));
  refuse("a.npz: byte 55: the checksum of the member is wrong", changed(true, [](Raw& raw) { raw.crc ^= 1; }));
  refuse("a.npz: byte 55: a member claims 4026531840 bytes", changed(true, [](Raw& raw) { raw.size = 0xF0000000; }));
}

/// The bytes of one member, again and again: a small file that would ask for any amount of memory.
TEST(Npz, RefusesMembersThatOverlap) {
  const Bytes npy = write_npy(make_array(ElementType::uint8, {1 << 16}));
  const Raw raw = raw_of(npy, true);
  const Bytes one = archive_of(raw);
  const std::size_t end = one.size() - 22, central = end - 51;
  Bytes many(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(central));
  constexpr int kMembers = 40;
  for (int i = 0; i < kMembers; ++i) {
    Bytes entry(one.begin() + static_cast<std::ptrdiff_t>(central), one.begin() + static_cast<std::ptrdiff_t>(end));
    entry[46] = static_cast<std::byte>('0' + i);  // the first letter of its name
    many = joined(many, entry);
  }
  Bytes record(one.begin() + static_cast<std::ptrdiff_t>(end), one.end());
  record[8] = record[10] = std::byte{kMembers};
  const auto size = static_cast<std::uint32_t>(51 * kMembers);
  std::memcpy(&record[12], &size, 4);
  many = joined(many, record);
  expect_data_error("a.npz: byte 0: the member \"", [&] { NpzReader(many, "a.npz"); });
  expect_data_error_with("overlaps what follows it", [&] { NpzReader(many, "a.npz"); });

  // The extra field of the header reaches into the directory.
  expect_data_error_with("overlaps what follows it", [&] { NpzReader(with_byte(one, 28, 200), "a.npz"); });
}

TEST(Npz, FindsOneOfManyArrays) {
  std::vector<NamedArray> arrays;
  for (int i = 0; i < 20'000; ++i) arrays.push_back({"a" + std::to_string(i), make_array(ElementType::uint8, {1})});
  const Bytes bytes = write_npz(arrays);
  const std::clock_t start = std::clock();
  const NpzReader reader(bytes, "a.npz");
  for (const std::string& key : reader.keys()) reader.read(key);
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << "processor time: work that grows with the square";
  expect_data_error("a.npz: no array \"b\", there are: a0, a1, a2", [&] { reader.read("b"); });
}

TEST(Npz, RefusesDuplicates) {
  const std::vector<ZipMember> members{{"x.npy", to_bytes("a")}, {"x.npy", to_bytes("b")}};
  const Bytes bytes = write_zip(members);
  expect_data_error_with("two members have the same name", [&] { NpzReader(bytes, "a.npz"); });
}

}  // namespace
}  // namespace lockstep
