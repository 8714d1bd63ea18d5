// Words and numbers: what is escaped, how numbers are written, what CSV and Extra-P get.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lockstep/lab/report/escape.hpp"
#include "lockstep/lab/report/write.hpp"

namespace lockstep::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ReportEscape, MarkupIsText) {
  EXPECT_EQ(escape_html("<script>alert('1')</script> & \"x\""),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;");
  EXPECT_EQ(escape_html("häuser ✓ 数"), "häuser ✓ 数");
}

TEST(ReportEscape, ControlCharactersAreReplaced) {
  EXPECT_EQ(clean("a\x1b[31mb"), "a\xef\xbf\xbd[31mb");
  EXPECT_EQ(clean(std::string_view("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(clean("a\nb\tc"), "a b c");
  EXPECT_EQ(clean("a\nb\tc", true), "a\nb\tc");
  EXPECT_EQ(clean("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(clean("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd") << "an overlong slash";
  EXPECT_EQ(clean("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "half of a surrogate pair";
  EXPECT_EQ(clean("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd") << "cut off";
  EXPECT_EQ(clean("\xc2\x85"), "\xef\xbf\xbd") << "a control character above 127";
  EXPECT_EQ(clean("user\xe2\x80\xaegnp.exe"), "user\xef\xbf\xbdgnp.exe") << "right to left";
}

TEST(ReportEscape, RunningText) {
  EXPECT_EQ(running_html("a `x<y` b"), "a <code>x&lt;y</code> b");
  EXPECT_EQ(running_html("**1.9 times**!"), "<strong>1.9 times</strong>!");
  EXPECT_EQ(running_html("see https://a.b/c?d=1&e."),
            "see <a href=\"https://a.b/c?d=1&amp;e\" rel=\"noreferrer\">https://a.b/c?d=1&amp;e</a>.");
  EXPECT_EQ(running_html("javascript:alert(1) http://x"), "javascript:alert(1) http://x");
  EXPECT_EQ(running_html("https://x\"onmouseover=\"y").find("\"onmouseover"), std::string::npos);
  EXPECT_EQ(running_html("one ` quote, two ** stars"), "one ` quote, two ** stars");
  EXPECT_EQ(running_html(""), "");
  EXPECT_EQ(running_text("**1.9 times** `x`"), "1.9 times `x`");
}

TEST(ReportNumbers, Formats) {
  EXPECT_EQ(format_number(61706, {}), "61,706");
  EXPECT_EQ(format_number(1234, {}), "1234");
  EXPECT_EQ(format_number(12.3, {}), "12.3");
  EXPECT_EQ(format_number(-2.5, {}), "-2.5");
  EXPECT_EQ(format_number(3.14159, fixed(2)), "3.14");
  EXPECT_EQ(format_number(1234567.89, fixed(1)), "1,234,567.9");
  EXPECT_EQ(format_number(-1234567, integer()), "-1,234,567");
  EXPECT_EQ(format_number(0.0031415, significant(3)), "0.00314");
  EXPECT_EQ(format_number(9.9996, significant(4)), "10.00");
  EXPECT_EQ(format_number(0, significant(4)), "0");
  EXPECT_EQ(format_number(1e-9, significant(3)), "1.00e-09");
  EXPECT_EQ(format_number(0.97521, percent(1)), "97.5 %");
  EXPECT_EQ(format_number(3.417, ratio()), "3.42×");
  EXPECT_EQ(format_number(2.31e9, prefix()), "2.31 G");
  EXPECT_EQ(format_number(4194304, bytes()), "4.00 MiB");
  EXPECT_EQ(format_number(512, bytes()), "512 B");
  EXPECT_EQ(format_number(kNaN, percent(1)), "not a number");
  EXPECT_EQ(format_number(-kInf, seconds()), "-∞");
}

TEST(ReportNumbers, SecondsChangeTheirUnit) {
  EXPECT_EQ(format_number(1.234e-9, seconds()), "1.23 ns");
  EXPECT_EQ(format_number(0.00099996, seconds()), "1.00 ms") << "not 1000 µs";
  EXPECT_EQ(format_number(0.0123, seconds()), "12.3 ms");
  EXPECT_EQ(format_number(45.61, seconds()), "45.6 s");
  EXPECT_EQ(format_number(59.99, seconds()), "1 min 00 s");
  EXPECT_EQ(format_number(0, seconds()), "0 s");
}

TEST(ReportNumbers, IntervalsShareAUnit) {
  const Column column{.format = seconds()};
  EXPECT_EQ(interval_text(column, Cell(0.1).interval(0.0123, 0.0456)), "[12.3, 45.6 ms]");
  EXPECT_EQ(interval_text(column, Cell(0.1).interval(0.0123, 1.5)), "[12.3 ms, 1.50 s]");
  EXPECT_EQ(interval_text(column, Cell(100).interval(90, 120)), "[1 min 30 s, 2 min 00 s]");
  EXPECT_EQ(interval_text(column, Cell(1)), "");
  EXPECT_EQ(interval_text({.format = ratio()}, Cell(2).interval(1.5, 2.5)), "[1.50, 2.50×]");
  EXPECT_EQ(interval_text({.format = percent(0)}, Cell(2).interval(0.5, 0.6)), "[50, 60 %]");
}

TEST(ReportNumbers, CellsKeepWhatTheyWereMadeOf) {
  EXPECT_EQ(Cell(3).number(), 3);
  EXPECT_EQ(Cell(2.5F).number(), 2.5);
  EXPECT_FALSE(Cell("3").number());
  EXPECT_FALSE(Cell(std::optional<double>()).number());
  EXPECT_EQ(cell_text({}, Cell()), "—");
  EXPECT_EQ(cell_text({.format = percent(0)}, Cell(0.5)), "50 %");
  EXPECT_EQ(cell_text({.format = percent(0)}, Cell(0.5).as(fixed(1))), "0.5");
  EXPECT_EQ(cell_text({}, Cell(0.5).shown("half")), "half");
  EXPECT_EQ(column_key({.title = "Time per epoch (s)"}), "time_per_epoch_s");
  EXPECT_EQ(column_key({.title = "×"}), "column");
}

Table scaling() {
  return {.title = "Scaling, \"strong\"",
          .columns = {{.title = "Name", .role = Role::call_path},
                      {.title = "Ranks", .role = Role::parameter},
                      {.title = "Time", .format = seconds(), .role = Role::metric}},
          .rows = {{.cells = {"a, \"b\"\nc", 1, Cell(0.5).interval(0.4, 0.6).sampled({0.4, 0.5, 0.6})},
                    .mark = Mark::baseline},
                   {.cells = {"plain", 2, 0.1}},
                   {.cells = {"no ranks", Cell(), 7.0}},
                   {.cells = {"bad", 4, kNaN}}}};
}

TEST(ReportData, CsvIsQuotedAndRaw) {
  EXPECT_EQ(table_csv(scaling()),
            "name,ranks,time,time_low,time_high,mark\r\n"
            "\"a, \"\"b\"\"\nc\",1,0.5,0.4,0.6,baseline\r\n"
            "plain,2,0.1,,,\r\n"
            "no ranks,,7,,,\r\n"
            "bad,4,nan,,,\r\n");
  EXPECT_EQ(table_csv({}), "\r\n");
}

TEST(ReportData, ExtraPGetsEverySample) {
  const Table table = scaling();
  EXPECT_EQ(extra_p_lines({"scaling", &table}),
            "{\"params\":{\"ranks\":1.0},\"metric\":\"time\",\"callpath\":\"a, \\\"b\\\"\\nc\",\"value\":0.4}\n"
            "{\"params\":{\"ranks\":1.0},\"metric\":\"time\",\"callpath\":\"a, \\\"b\\\"\\nc\",\"value\":0.5}\n"
            "{\"params\":{\"ranks\":1.0},\"metric\":\"time\",\"callpath\":\"a, \\\"b\\\"\\nc\",\"value\":0.6}\n"
            "{\"params\":{\"ranks\":2.0},\"metric\":\"time\",\"callpath\":\"plain\",\"value\":0.1}\n");
  const Table plain{.columns = {{.title = "Time", .role = Role::metric}}, .rows = {{.cells = {1.0}}}};
  EXPECT_EQ(extra_p_lines({"plain", &plain}), "");
}

TEST(ReportData, TablesGetNamesOfTheirOwn) {
  Document document;
  document.section("a").add(Table{.title = "Every Rung!"}).add(Table{.id = "every-rung"}).add(Table{});
  const auto tables = tables_of(document);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].name, "every-rung");
  EXPECT_EQ(tables[1].name, "every-rung-2");
  EXPECT_EQ(tables[2].name, "item");
  EXPECT_EQ(slug("../../etc/passwd"), "etc-passwd");
}

TEST(ReportText, TerminalShowsTheSameTables) {
  EXPECT_EQ(
      table_text({.title = "T",
                  .columns = {{.title = "Name"}, {.title = "Time", .unit = "s", .format = fixed(1)}},
                  .rows = {{.cells = {"a\x1b[2J", Cell(1.0).interval(0.9, 1.1)}, .mark = Mark::best}, {.cells = {"b"}}},
                  .notes = {"A **note**."}}),
      "T\n"
      "Name         Time (s)\n"
      "a\xef\xbf\xbd[2J  1.0 [0.9, 1.1]  best\n"
      "b                   —\n"
      "A note.\n");
}

TEST(ReportText, EveryBlockOfWordsIsThere) {
  Document document{.title = "Title", .subtitle = "Sub", .footer = "foot"};
  document.section("One")
      .add(Paragraph{"words"})
      .add(List{.items = {"x", "y"}})
      .add(Code{.text = "a\nb", .title = "Do"})
      .add(Checklist{.rules = {{Rule::State::broken, "rule", "why"}}})
      .add(Facts{.facts = {{"k", "v"}}})
      .add(Notice{.text = "careful"})
      .add(Headline{.numbers = {{"2×", "faster", "really"}}})
      .add(BarChart{.title = "drawn"});
  EXPECT_EQ(to_text(document),
            "Title\nSub\n\nOne\n---\nwords\n\n- x\n- y\n\nDo:\n  a\n  b\n\nnot kept  rule: why\n\nk  v\n\n"
            "warning: careful\n\n2×  faster  really\n\nfoot\n");
}

TEST(ReportHtml, VerdictsAndFoldedTables) {
  Document doc{.title = "T"};
  doc.section("S")
      .add(Notice{.kind = Notice::Kind::good, .word = "Holds.", .text = "two"})
      .add(Checklist{
          .rules = {{.state = Rule::State::broken, .rule = "It is so.", .why = "3", .word = "does not hold"}}})
      .add(Table{
          .title = "Long", .columns = {{.title = "N"}}, .rows = {{.cells = {1}}, {.cells = {2}}}, .folded = true});
  const std::string page = to_html(doc), text = to_text(doc);
  EXPECT_NE(page.find("<strong>Holds.</strong> two"), std::string::npos);
  EXPECT_NE(page.find("<span class=\"state\">does not hold</span>"), std::string::npos);
  EXPECT_NE(page.find("<details>\n<summary class=\"caption\">Long <span class=\"unit\">2 rows</span></summary>"),
            std::string::npos);
  EXPECT_EQ(page.find("</details>") != std::string::npos, true);
  EXPECT_NE(text.find("Holds. two\n\ndoes not hold  It is so. 3\n"), std::string::npos) << text;
}

TEST(ReportHtml, HostileNamesStayNames) {
  const std::string bad = "\"><img src=x onerror=alert(1)>";
  Document document{.title = bad, .subtitle = bad, .footer = bad};
  document.section(bad)
      .add(Table{.id = bad,
                 .title = bad,
                 .columns = {{.title = bad, .unit = bad}},
                 .rows = {{.cells = {Cell(bad).noted(bad)}}},
                 .notes = {bad}})
      .add(Code{.text = bad, .title = bad})
      .add(Facts{.title = bad, .facts = {{bad, bad}}})
      .add(Checklist{.title = bad, .rules = {{Rule::State::kept, bad, bad}}})
      .add(Notice{.text = bad})
      .add(Headline{.numbers = {{bad, bad, bad}}})
      .add(BarChart{.id = bad,
                    .title = bad,
                    .description = bad,
                    .axis = {.title = bad},
                    .series = {{bad}, {bad}},
                    .groups = {{.label = bad, .bars = {{1}, {2}}, .note = bad}},
                    .note = bad})
      .add(LineChart{.title = bad, .series = {{.name = bad, .points = {{1, 1}, {2, 2}}}}})
      .add(ScatterChart{.title = bad,
                        .ceilings = {{.label = bad, .level = 3}},
                        .points = {{.label = bad, .x = 1, .y = 1}},
                        .tones = {{bad}}});
  const std::string html = to_html(document);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("&lt;img src=x onerror=alert(1)&gt;"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
  EXPECT_EQ(html.find(" style=\""), std::string::npos) << "the policy forbids it";
}

}  // namespace
}  // namespace lockstep::report
