#pragma once
// Text cut into windows of tokens, for networks that tell the next token. Tokens are bytes, or characters: the code
// points of UTF-8. Window k holds tokens [k * steps, (k + 1) * steps); its targets are the tokens that follow each.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

/// The tokens of a model: its bytes, or the characters of a text in the order of their code points.
class Vocabulary {
 public:
  /// All 256 bytes.
  Vocabulary() = default;
  /// The characters of a UTF-8 string; one that comes twice counts once. `name` is where it comes from.
  Vocabulary(std::string_view characters, std::string_view name);

  bool bytes() const { return points_.empty(); }
  std::int64_t size() const { return bytes() ? 256 : static_cast<std::int64_t>(points_.size()); }
  /// Error(data): `text` is not UTF-8, or holds a character that the vocabulary has not; it names the byte of `name`.
  std::vector<std::int32_t> tokens(std::string_view text, std::string_view name) const;
  /// The bytes of a token.
  std::string text(std::int32_t token) const;
  /// All characters, as UTF-8; empty for bytes.
  std::string characters() const;

 private:
  std::vector<char32_t> points_;  // ascending
};

/// The code points of strict UTF-8: no overlong forms, surrogates or numbers above 10FFFF. Error(data) names the byte.
std::vector<char32_t> parse_utf8(std::string_view text, std::string_view name);

/// Windows of `steps` tokens; what is left at the end is not used. Error(data) when there is not even one.
Samples cut_into_windows(std::span<const std::int32_t> tokens, std::int64_t steps, std::int64_t vocabulary,
                         std::string_view name);

/// Whether the source is text: data.vocabulary is set, or it is a .txt file.
bool is_text_source(const DataConfig& config);
/// A file, or the .txt files of a folder by their names, one behind the other.
OpenedSource open_text(const DataConfig& config);

}  // namespace lockstep
