#pragma once
// A report as data: what is said, in which order. The writers (write.hpp) turn it into HTML, text for a terminal, CSV,
// JSON and Extra-P's lines.
//
//   report::Document doc{.title = "The ladder", .subtitle = "LeNet-5 on Fashion-MNIST"};
//   doc.section("Summary").add(report::Paragraph{"Two threads are **1.9 times** as fast as one."});
//   doc.section("Rungs").add(report::Table{
//       .title = "Every rung",
//       .columns = {report::column("Rung"), report::column("Time", report::seconds())},
//       .rows = {{.cells = {"naive", report::Cell(3.1).interval(3.0, 3.3)}, .mark = report::Mark::baseline}}});
//
// Texts are plain: every writer escapes what its format gives a meaning. In running text (paragraphs, lists, notices,
// notes) `code` between backquotes and **strong** words are set apart, and https:// addresses become links.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lockstep/lab/report/cell.hpp"
#include "lockstep/lab/report/chart.hpp"

namespace lockstep::report {

struct Paragraph {
  std::string text{};
};

struct List {
  std::vector<std::string> items{};
};

struct Row {
  std::vector<Cell> cells{};  // missing ones at the end are empty
  Mark mark = Mark::none;
  Tone tone = Tone::automatic;  // a dot of this colour before the first cell; automatic: none
};

struct Table {
  std::string id{};  // name of its CSV file and of its place in the page; empty: from the title
  std::string title{};
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  std::vector<std::string> notes{};  // below the table
  bool folded = false;               // in the page: only its title stands open
};

struct Code {
  std::string text{};   // commands to repeat, configurations
  std::string title{};  // what it is
  bool folded = false;  // in the page: only its title stands open
};

/// A rule and whether it was kept, with the reason where it was not; or a claim and whether it holds.
struct Rule {
  enum class State { kept, partly, broken, not_applicable };
  State state = State::kept;
  std::string rule{};
  std::string why{};
  std::string word{};  // instead of the name of its state
};

struct Checklist {
  std::string title{};
  std::vector<Rule> rules{};
};

struct Fact {
  std::string name{};
  std::string value{};
};

/// Names and values: the machine, the configuration.
struct Facts {
  std::string title{};
  std::vector<Fact> facts{};
};

struct Notice {
  enum class Kind { info, good, warning };
  Kind kind = Kind::warning;
  std::string word{};  // before the text; empty: "Note", "Good", "Warning" by its kind
  std::string text{};
};

/// One to four numbers in large type, for the top of the page.
struct Headline {
  struct Number {
    std::string value{};   // "31.4×"
    std::string label{};   // "faster than one thread"
    std::string detail{};  // "95 % interval 30.9 to 32.0"
  };
  std::vector<Number> numbers{};
};

/// Small charts side by side where there is room.
struct Panels {
  std::vector<Chart> charts{};
};

/// Small pictures beside one another, with words below each.
struct PictureGrid {
  struct Item {
    std::vector<std::string> pictures{};  // PNG files in base64, side by side
    std::vector<std::string> lines{};     // the first in strong type
    std::string description{};            // for readers who cannot see it
  };
  std::string title{};
  std::vector<Item> items{};
  std::string note{};
};

/// A part of a section. What it takes to copy, move and destroy any of the types is compiled once, in document.cpp, and
/// not in every file that makes a report: a third of their time.
struct Block : std::variant<Paragraph, List, Table, Code, Checklist, Facts, Notice, Headline, BarChart, LineChart,
                            ScatterChart, HeatMap, PointCloud, NetworkDrawing, PictureGrid, Panels> {
  template <class Part>
  Block(Part part);
  Block(const Block&);
  Block(Block&&) noexcept;
  Block& operator=(const Block&);
  Block& operator=(Block&&) noexcept;
  ~Block();
};

struct Section {
  std::string title{};  // may be empty in the first one
  std::vector<Block> blocks{};

  Section& add(Block block);
};

struct Document {
  std::string title{};
  std::string subtitle{};
  std::deque<Section> sections{};  // references that section() gave stay valid
  std::string footer{};            // what made it: program, version, commit, date

  /// Adds an empty one at the end.
  Section& section(std::string name);
};

/// Every table of the document with the name it has in files and in the page: its id, or one made from its title;
/// a number is added where two would be the same.
struct NamedTable {
  std::string name;
  const Table* table;
};
std::vector<NamedTable> tables_of(const Document& document);

/// Whether a cell of the column is a number: then the column stands flush right.
bool holds_numbers(const Table& table, std::size_t column);

/// "Time per epoch (s)" -> "time-per-epoch-s"; "item" where nothing is left.
std::string slug(std::string_view text);

// The words and symbols of marks and tones, the same in every writer.

/// "same", "differs", ...; empty for none.
std::string_view mark_name(Mark mark);
/// "✓", "≠", "★", "!", ...; empty where the mark has none.
std::string_view mark_symbol(Mark mark);
/// "naive", "simd", ...: the class of the page's style.
std::string_view tone_name(Tone tone);
/// Tones that were left automatic, in the order of their appearance.
Tone automatic_tone(std::size_t index);
/// Its own word, or the name of its state.
std::string_view rule_word(const Rule& rule);

}  // namespace lockstep::report
