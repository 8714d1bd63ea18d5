#include "cli/commands/confusion.hpp"

#include <fmt/format.h>

#include "cli/output/console.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

std::string Confusion::text(const std::vector<std::string>& names) const {
  TextTable table(fmt::format("l{}r", std::string(static_cast<std::size_t>(classes_), 'r')));
  std::vector<std::string> head = {"true \\ answer"};
  for (std::int64_t k = 0; k < classes_; ++k) head.push_back(std::to_string(k));
  head.emplace_back("found");
  table.row(head);
  for (std::int64_t truth = 0; truth < classes_; ++truth) {
    const auto index = static_cast<std::size_t>(truth);
    std::vector<std::string> cells = {std::to_string(truth)};
    if (index < names.size()) cells[0] = fmt::format("{} {}", truth, one_line(names[index]));
    std::int64_t sum = 0;
    for (std::int64_t answer = 0; answer < classes_; ++answer) {
      cells.push_back(count(truth, answer) == 0 ? "." : std::to_string(count(truth, answer)));
      sum += count(truth, answer);
    }
    cells.push_back(sum == 0 ? "-" : percent(double(count(truth, truth)) / double(sum)));
    table.row(std::move(cells));
  }
  return table.str();
}

Json Confusion::json() const {
  Json rows = Json::array();
  for (std::int64_t truth = 0; truth < classes_; ++truth) {
    Json row = Json::array();
    for (std::int64_t answer = 0; answer < classes_; ++answer) row.push_back(count(truth, answer));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lockstep::cli
