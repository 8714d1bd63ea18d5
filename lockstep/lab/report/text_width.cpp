#include "lockstep/lab/report/drawing.hpp"

#include <cstddef>
#include <cstdint>

namespace lockstep::report {

namespace {

// Hundredths of the size of the font, from the space to the tilde.
constexpr std::uint8_t kWidths[] = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                    58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                    61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                    28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};

double width_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x20 && byte < 0x7f) return kWidths[byte - 0x20];
  if ((byte & 0xc0) == 0x80) return 0;  // inside of a character
  return byte < 0xe3 ? 84 : 110;        // letters with accents and signs; then the wide scripts and pictures
}

std::size_t next_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

}  // namespace

double text_width(std::string_view text, double size) {
  double hundredths = 0;
  for (std::size_t at = 0; at < text.size(); ++at) hundredths += width_at(text, at);
  return hundredths * size / 100;
}

std::string fit_text(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  double used = text_width("…", size);
  std::size_t end = 0;
  while (end < text.size()) {
    used += width_at(text, end) * size / 100;
    if (used > width) break;
    end = next_character(text, end);
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace lockstep::report
