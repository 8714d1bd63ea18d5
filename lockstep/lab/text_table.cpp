#include "lockstep/lab/text_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lockstep {

std::string too_few_text(std::int64_t samples) { return fmt::format("n = {}", samples); }

std::int64_t display_width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::string TextTable::str(int indent) const {
  std::vector<std::int64_t> widths(alignment_.size(), 0);
  for (const auto& cells : rows_)
    for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c)
      widths[c] = std::max(widths[c], display_width(cells[c]));
  std::string out;
  for (const auto& cells : rows_) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c) {
      const std::string fill(static_cast<std::size_t>(widths[c] - display_width(cells[c])), ' ');
      if (c > 0) line += "  ";
      line += alignment_[c] == 'r' ? fill + cells[c] : cells[c] + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::int64_t>(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string with_prefix(double number) {
  constexpr std::string_view kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t step = 0;
  while (std::abs(number) >= 999.95 && step + 1 < std::size(kPrefixes)) number /= 1000, ++step;
  return fmt::format("{:.4g}{}", number, kPrefixes[step]);
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.{}f} s", seconds, seconds < 0.9995 ? 3 : seconds < 9.95 ? 2 : 1);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string loss_text(double loss) {
  if (loss != 0 && (std::abs(loss) < 1e-3 || std::abs(loss) >= 1e5)) return fmt::format("{:.3e}", loss);
  return fmt::format("{:.4f}", loss);
}

std::string percent(std::optional<double> fraction) {
  return fraction ? fmt::format("{:.2f} %", 100 * *fraction) : "-";
}

}  // namespace lockstep
