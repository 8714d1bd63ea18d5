#include "lockstep/data/text_source.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kUsualSteps = 64;

[[noreturn]] void fail_at(std::string_view name, std::size_t byte, const std::string& what) {
  throw Error(ErrorCode::data, fmt::format("{}: byte {}: {}", name, byte, what));
}

/// Bytes of the form that this first byte begins; 0: none does.
std::size_t form_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

std::string encoded(char32_t point) {
  std::string out;
  const auto add = [&](char32_t bits) { out += static_cast<char>(bits); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6), add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12), add(0x80 | (point >> 6 & 0x3F)), add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18), add(0x80 | (point >> 12 & 0x3F)), add(0x80 | (point >> 6 & 0x3F)),
        add(0x80 | (point & 0x3F));
  }
  return out;
}

/// How a message shows a character: itself where it can be seen, and its number.
std::string shown(char32_t point) {
  const std::string number = fmt::format("U+{:04X}", static_cast<std::uint32_t>(point));
  return point > 0x20 && point != 0x7F ? fmt::format("\"{}\" ({})", encoded(point), number) : number;
}

std::string text_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> files;
  if (!fs::is_directory(path, error)) {
    files.push_back(path);
  } else {
    for (const auto& entry : fs::directory_iterator(path, error))
      if (lower_case(entry.path().extension().string()) == ".txt") files.push_back(entry.path().string());
    std::ranges::sort(files);
    if (files.empty()) throw Error(ErrorCode::data, fmt::format("{}: the folder has no .txt files", path));
  }
  std::string text;
  for (const std::string& file : files) {
    const std::vector<std::byte> bytes = read_data_file(file);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

}  // namespace

std::vector<char32_t> parse_utf8(std::string_view text, std::string_view name) {
  std::vector<char32_t> points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
    const std::size_t size = form_of(byte(0));
    const auto bad = [&] {
      fail_at(name, at, "the text is not UTF-8; convert it, or set data.vocabulary = \"bytes\"");
    };
    if (size == 0 || at + size > text.size()) bad();
    char32_t point = size == 1 ? byte(0) : byte(0) & (0xFFU >> (size + 1));
    for (std::size_t k = 1; k < size; ++k) {
      if ((byte(k) & 0xC0U) != 0x80U) bad();
      point = point << 6 | (byte(k) & 0x3FU);
    }
    const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
    if (overlong || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) bad();
    points.push_back(point);
    at += size;
  }
  return points;
}

Vocabulary::Vocabulary(std::string_view characters, std::string_view name) : points_(parse_utf8(characters, name)) {
  if (points_.empty()) throw Error(ErrorCode::data, fmt::format("{}: the text is empty", name));
  std::ranges::sort(points_);
  points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
}

std::vector<std::int32_t> Vocabulary::tokens(std::string_view text, std::string_view name) const {
  std::vector<std::int32_t> tokens;
  if (bytes()) {
    tokens.reserve(text.size());
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  std::size_t at = 0;
  for (const char32_t point : parse_utf8(text, name)) {
    const auto found = std::ranges::lower_bound(points_, point);
    if (found == points_.end() || *found != point)
      fail_at(name, at,
              fmt::format("the character {} is not among the {} of the vocabulary", shown(point), points_.size()));
    tokens.push_back(static_cast<std::int32_t>(found - points_.begin()));
    at += encoded(point).size();
  }
  return tokens;
}

std::string Vocabulary::text(std::int32_t token) const {
  if (token < 0 || token >= size()) throw Error(ErrorCode::bug, "a token outside the vocabulary");
  return bytes() ? std::string(1, static_cast<char>(token)) : encoded(points_[static_cast<std::size_t>(token)]);
}

std::string Vocabulary::characters() const {
  std::string all;
  for (const char32_t point : points_) all += encoded(point);
  return all;
}

Samples cut_into_windows(std::span<const std::int32_t> tokens, std::int64_t steps, std::int64_t vocabulary,
                         std::string_view name) {
  const std::int64_t windows = (std::ssize(tokens) - 1) / steps;
  if (tokens.empty() || windows < 1)
    throw Error(ErrorCode::data,
                fmt::format("{}: {} tokens are too few for a window of {} and the one behind it; lower "
                            "data.steps",
                            name, tokens.size(), steps));
  const ElementType type = vocabulary <= 256 ? ElementType::uint8 : ElementType::int32;
  Samples samples{make_array(type, {windows, steps}), {steps}, {}};
  samples.targets.values = make_array(type, {windows, steps});
  samples.targets.step_classes = vocabulary;
  const auto fill = [&](auto x, auto y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<typename decltype(x)::value_type>(tokens[i]);
      y[i] = static_cast<typename decltype(x)::value_type>(tokens[i + 1]);
    }
  };
  if (type == ElementType::uint8)
    fill(samples.features.as<std::uint8_t>(), samples.targets.values.as<std::uint8_t>());
  else
    fill(samples.features.as<std::int32_t>(), samples.targets.values.as<std::int32_t>());
  return samples;
}

bool is_text_source(const DataConfig& config) {
  return !config.vocabulary.empty() || lower_case(config.source).ends_with(".txt");
}

OpenedSource open_text(const DataConfig& config) {
  require_setting(!config.stream, config, "stream", "text is read at once; leave data.stream out");
  const std::int64_t steps = config.steps > 0 ? config.steps : kUsualSteps;
  const std::string text = text_of(config.source);
  const bool bytes = config.vocabulary == "bytes";
  const Vocabulary vocabulary = bytes                       ? Vocabulary()
                                : config.characters.empty() ? Vocabulary(text, config.source)
                                                            : Vocabulary(config.characters, "data.characters");
  OpenedSource opened;
  const auto read = [&](const std::string& all, const std::string& name) {
    Samples samples = cut_into_windows(vocabulary.tokens(all, name), steps, vocabulary.size(), name);
    const Shape shape = samples.shape;
    return std::make_shared<MemoryDataset>(std::move(samples.features), shape, std::move(samples.targets), name);
  };
  opened.train = read(text, config.source);
  if (!config.test.empty()) opened.test = read(text_of(config.test), config.test);
  opened.characters = vocabulary.characters();
  opened.notes.push_back(fmt::format("text: {} of {} tokens; {} in the vocabulary",
                                     count_of(opened.train->size(), "window"), steps,
                                     count_of(vocabulary.size(), bytes ? "byte" : "character")));
  return opened;
}

}  // namespace lockstep
