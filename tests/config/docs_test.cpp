// The tables of docs/configuration.md say what the records say: each is made here and must stand there.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/record_writer.hpp"
#include "lockstep/config/section_fields.hpp"
#include "lockstep/data/data_fields.hpp"

namespace lockstep {
namespace {

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}`\"{}\"`", text.empty() ? "" : ", ", name);
  return text;
}

// What a value may be: by the range, else by the type.
template <class T>
std::string values_of(IntRange range, const T&) {
  return in_words(range);
}
template <>
std::string values_of(IntRange range, const Extent&) {
  return in_words(range) + ", or `[height, width]`";
}
template <>
std::string values_of(IntRange range, const std::optional<Extent>&) {
  return values_of(range, Extent(1));
}
std::string values_of(NumberRange range, double) { return in_words(range); }
std::string values_of(OneOf names, const std::string&) { return quoted(names.names()); }
std::string values_of(TwoWords words, bool) { return quoted({words.no, words.yes}); }
std::string values_of(TextOrIndex, const std::string&) { return "text or a whole number"; }
std::string values_of(TextOrIndex, const std::vector<std::string>&) { return "names or whole numbers"; }
std::string values_of(AnyValue, bool) { return "`true`, `false`"; }
std::string values_of(AnyValue, const std::optional<bool>&) { return "`true`, `false`"; }
std::string values_of(AnyValue, const std::string&) { return "text"; }
std::string values_of(AnyValue, const std::vector<std::int64_t>&) { return "numbers"; }
std::string values_of(AnyValue, const std::vector<std::string>&) { return "names"; }
std::string values_of(AnyValue, const std::vector<Metric>&) { return "names"; }
std::string values_of(AnyValue, const std::optional<EarlyStopping>&) { return "a number or a table"; }
std::string values_of(AnyValue, const ClassWeights&) { return "`\"balanced\"` or numbers"; }
std::string values_of(AnyValue, const std::vector<LayerSpec>&) { return "layers"; }
std::string values_of(AnyValue, const std::optional<Init>&) { return "an initialiser"; }
template <class Enum>
requires std::is_enum_v<Enum> std::string values_of(AnyValue, Enum) { return quoted(names_of<Enum>()); }
template <class Table>
requires(HasFields<Table>) std::string values_of(AnyValue, const Table&) { return "a table"; }
template <class... Records>
std::string values_of(AnyValue, const std::variant<Records...>&) {
  return "a name or a table";
}
template <>
std::string values_of(AnyValue, const Averaging&) {
  return "a name or a table";
}
template <>
std::string values_of(AnyValue, const Schedule&) {
  return "a name or a table";
}

template <class Each, class T>
std::string default_of(const Each& each, const T& value) {
  if (each.hint != nullptr) return "required";
  if (is_absent(value) || (each.is_quiet && !std::is_same_v<T, bool>)) return "";
  return fmt::format("`{}`", field_text(each, value, 0));
}

/// One row per field: name, values, default, meaning.
template <class Record, class Fields>
std::string rows(const Record& record, const Fields& fields, std::string_view before = "") {
  std::string text;
  for_each_in(fields, [&](const auto& each) {
    if (!each.belongs_to(record)) return;
    const auto& value = each.of(record);
    const std::string word = each.zero_word == nullptr ? "" : fmt::format("`\"{}\"` or ", each.zero_word);
    text += fmt::format("{}| `{}` | {}{} | {} | {} |\n", before, each.name, word, values_of(each.range, value),
                        default_of(each, value), each.help);
  });
  return text;
}

template <class Record, class Fields>
std::string section_table(const Record& record, const Fields& fields) {
  return "| key | values | default | meaning |\n| --- | --- | --- | --- |\n" + rows(record, fields);
}

/// One row per record, and below it one per option.
std::string options_table(std::string_view what) {
  return fmt::format("| {} | option | values | default | meaning |\n| --- | --- | --- | --- | --- |\n", what);
}
std::string head_row(std::string_view name, std::string_view help) {
  return fmt::format("| `{}` | | | | {} |\n", name, help);
}

template <class... Records>
std::string variant_table(std::string_view what, std::type_identity<std::variant<Records...>>) {
  std::string text = options_table(what);
  ((text += head_row(Records::kName, Records::kHelp) + rows(Records{}, Records::fields(), "| ")), ...);
  return text;
}

template <class Record>
std::string kinds_table(std::string_view what) {
  std::string text = options_table(what);
  for (std::size_t i = 0; i < names_of<decltype(Record::kind)>().size(); ++i) {
    Record record;
    record.kind = static_cast<decltype(Record::kind)>(i);
    const Described about = describe(record.kind);
    text += head_row(about.name, about.help) + rows(record, Record::fields(), "| ");
  }
  return text;
}

template <class Enum>
std::string names_table(std::string_view what) {
  std::string text = fmt::format("| {} | meaning |\n| --- | --- |\n", what);
  for (std::size_t i = 0; i < names_of<Enum>().size(); ++i) {
    const Described about = describe(static_cast<Enum>(i));
    text += fmt::format("| `\"{}\"` | {} |\n", about.name, about.help);
  }
  return text;
}

TEST(ConfigurationDocs, HasTheTablesOfTheRecords) {
  std::ifstream file(LOCKSTEP_EXAMPLES "/../docs/configuration.md");
  ASSERT_TRUE(file) << "docs/configuration.md is missing";
  std::stringstream docs;
  docs << file.rdbuf();
  for (const std::string& table :
       {section_table(DataConfig{}, data_fields()), variant_table("layer", std::type_identity<LayerKind>{}),
        kinds_table<Init>("initialiser"), section_table(RunConfig{}, train_fields()), names_table<Loss>("loss"),
        variant_table("optimiser", std::type_identity<OptimizerSpec>{}), kinds_table<Schedule>("schedule"),
        kinds_table<Averaging>("average"), section_table(CheckpointConfig{}, checkpoint_fields()),
        section_table(LogConfig{}, log_fields()), section_table(GuardOptions{}, guard_fields()),
        section_table(ParallelOptions{}, parallel_fields()), names_table<RankReduction>("reduce"),
        names_table<PipelineSchedule>("schedule of a pipeline")})
    EXPECT_NE(docs.str().find("\n" + table + "\n"), std::string::npos)
        << "docs/configuration.md lacks this table, or has an older one:\n"
        << table;
}

}  // namespace
}  // namespace lockstep
