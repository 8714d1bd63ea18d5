// Results of any kind come out as tables, with the machine and the warnings they were taken under.

#include <gtest/gtest.h>

#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/report/write.hpp"

namespace lockstep::report {
namespace {

std::vector<Result> results() {
  Result slow{.kind = "measurement", .name = "slow", .samples = {3, 1, 2}, .weight_hash = "abc"};
  Result fast{.kind = "measurement", .name = "fast", .samples = {0.5}, .warnings = {"the machine is busy"}};
  Result note{.kind = "verdict", .name = "limit", .words = {{"why", "memory"}}};
  slow.origin.machine.processor = "<b>A processor</b>";
  slow.origin.command = "lockstep bench";
  slow.origin.versions["lockstep"] = "0.1.0";
  return {slow, fast, note};
}

TEST(ReportResults, OneTableForEachKind) {
  const std::vector<Result> all = results();
  const Document document = results_document(all);
  const auto tables = tables_of(document);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].name, "measurement");
  const Table& table = *tables[0].table;
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[1].number(), 2) << "the median";
  EXPECT_FALSE(table.rows[0].cells[1].error) << "three samples have no interval";
  EXPECT_EQ(table.rows[0].cells[1].note, "n = 3");
  EXPECT_EQ(table.rows[0].cells[1].samples, all[0].samples);
  EXPECT_FALSE(tables[1].table->rows[0].cells[1].number()) << "nothing was measured";
  EXPECT_EQ(cell_text(tables[1].table->columns[4], tables[1].table->rows[0].cells[4]), "why memory");
}

TEST(ReportResults, SixSamplesHaveAnInterval) {
  const Cell cell = median_cell(summarise(std::vector<double>{3, 1, 2, 6, 5, 4}));
  ASSERT_TRUE(cell.error);
  EXPECT_EQ(cell.error->low, 1);
  EXPECT_EQ(cell.error->high, 6);
  EXPECT_EQ(cell.note, "");
}

TEST(ReportResults, WarningsAreCounted) {
  const std::vector<Result> all = results();
  const auto notices = warning_notices(all);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].text, "the machine is busy (1 of 3 results)");
  EXPECT_EQ(warning_notices(std::span(all).subspan(1, 1))[0].text, "the machine is busy");
}

TEST(ReportResults, NothingAtAll) { EXPECT_FALSE(to_html(results_document({})).empty()); }

TEST(ReportResults, MachineIsNamedAndEscaped) {
  const std::vector<Result> all = results();
  EXPECT_EQ(machine_facts(all[0].origin).facts[0].value, "<b>A processor</b>");
  EXPECT_EQ(to_html(results_document(all)).find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::report
