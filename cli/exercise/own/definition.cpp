#include "cli/exercise/own/definition.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/own/expression.hpp"
#include "cli/exercise/own/library.hpp"
#include "cli/exercise/runner/protocol.h"
#include "cli/exercise/track.hpp"
#include "lockstep/config/reader.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostTask = 1 << 18;
constexpr std::int64_t kMostElements = std::int64_t{1} << 26;  // of one array of a case

/// A range of random numbers for an input.
struct InputRange {
  std::size_t array = 0;  // among the arrays
  double low = -1, high = 1;
};

bool is_c_name(const std::string& name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

class DefinitionReader {
 public:
  DefinitionReader(const fs::path& folder, const Value& definition)
      : table_(definition, "definition",
               {"name", "title", "teaches", "needs", "tracks", "function", "task", "helpers", "fields", "shapes",
                "most", "timed", "oracle", "fast", "flops", "bytes", "terms", "mistakes"}),
        own_(std::make_shared<OwnExercise>()),
        e_(own_->exercise) {
    own_->folder = folder;
  }

  std::shared_ptr<const OwnExercise> read() {
    e_.name = text("name", "a word for lists: \"scale-add\"");
    e_.title = text("title", "what it is, in a few words");
    e_.teaches = text("teaches", "what it teaches, in a sentence");
    e_.function = text("function", "the C name of the function that students write");
    if (!is_c_name(e_.function)) table_.fail("function", "is no name of a C function");
    e_.task = read_text(file("task", "the task in words: \"task.md\""), kMostTask, ErrorCode::usage);
    if (table_.find("helpers") != nullptr)
      e_.helpers = "\n" + read_text(file("helpers", ""), kMostTask, ErrorCode::usage);
    read_tracks();
    read_fields();
    read_shapes();
    read_cost();
    read_kernels();
    return own_;
  }

 private:
  std::string text(const char* key, const char* hint) {
    const std::string found = as_string(table_.require(key, hint), table_.path_of(key));
    if (trimmed(found).empty()) table_.fail(key, fmt::format("is empty; {}", hint));
    return found;
  }
  /// A file of the folder, not outside of it.
  fs::path file_at(const Value& value, const std::string& path) {
    const fs::path name = as_string(value, path);
    if (name.empty() || name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end())
      fail_at(value, path, "must be a file in the folder of the exercise");
    if (!fs::is_regular_file(own_->folder / name))
      fail_at(value, path, fmt::format("{}: no such file", one_line((own_->folder / name).string())));
    return own_->folder / name;
  }
  fs::path file(const char* key, const char* hint) { return file_at(table_.require(key, hint), table_.path_of(key)); }

  void read_tracks() {
    if (const Value* const needs = table_.find("needs"))
      for (const Value& each : as_array(*needs, "definition.needs"))
        e_.needs.push_back(as_string(each, "definition.needs"));
    std::vector<std::string> known;
    for (const Track& each : tracks()) known.push_back(each.name);
    for (const Value& each : as_array(table_.require("tracks", "[\"cpp\", \"openmp\"]"), "definition.tracks"))
      e_.tracks.push_back(known[as_choice(each, "definition.tracks", known)]);
    if (e_.tracks.empty()) table_.fail("tracks", "has no names");
  }

  void read_fields() {
    const Value& all = table_.require("fields", "a list of tables: [[definition.fields]]");
    std::vector<std::string> seen;
    std::size_t arrays = 0;
    for (const Value& each : as_array(all, "definition.fields")) {
      const std::string path = fmt::format("definition.fields[{}]", e_.fields.size());
      ArgumentField field = read_field(each, path, arrays);
      if (std::find(seen.begin(), seen.end(), field.name) != seen.end())
        fail_at(each, path, fmt::format("the name {} stands there twice", field.name));
      seen.push_back(field.name);
      const std::size_t bytes = field.array() ? 8 : static_cast<std::size_t>(element_bytes(field.element));
      e_.struct_bytes = (e_.struct_bytes + bytes - 1) / bytes * bytes;
      field.offset = e_.struct_bytes;
      e_.struct_bytes += bytes;
      arrays += field.array() ? 1 : 0;
      e_.fields.push_back(std::move(field));
    }
    e_.struct_bytes = (e_.struct_bytes + 7) / 8 * 8;
    const auto any = [&](const auto& is) { return std::any_of(e_.fields.begin(), e_.fields.end(), is); };
    if (sizes_.empty()) fail_at(all, "definition.fields", "no field is a size");
    if (!any([](const ArgumentField& f) { return f.written(); }))
      fail_at(all, "definition.fields", "no field is an output: nothing could be compared");
    if (arrays > kMostArrays || e_.struct_bytes > kMostArguments)
      fail_at(all, "definition.fields",
              fmt::format("more than {} arrays or {} bytes", int(kMostArrays), int(kMostArguments)));
    if (!ranges_.empty()) e_.prepare = prepare();
  }

  ArgumentField read_field(const Value& value, const std::string& path, std::size_t arrays) {
    static const std::vector<std::string> kKinds = {"size", "scalar", "input", "output", "both"};
    static const std::vector<std::string> kElements = {"float", "double", "int32", "int64"};
    const TableReader table(value, path, {"kind", "name", "element", "dims", "words", "optional", "low", "high"});
    ArgumentField field;
    field.kind = static_cast<ArgumentField::Kind>(
        as_choice(table.require("kind", "size, scalar, input, output or both"), path + ".kind", kKinds));
    field.name = as_string(table.require("name", "of the member of the struct"), path + ".name");
    if (!is_c_name(field.name)) table.fail("name", "is no name of a member in C");
    field.words = as_string(table.require("words", "what it is, for the header"), path + ".words");
    if (field.words.find('\n') != std::string::npos) table.fail("words", "must be one line");
    if (field.kind == ArgumentField::Kind::size) {
      for (const char* const key : {"element", "dims", "optional", "low", "high"})
        if (table.find(key) != nullptr) table.fail(key, "a size has none: it is an int64_t");
      sizes_.push_back(field.name);
      size_offsets_.push_back(e_.struct_bytes + (8 - e_.struct_bytes % 8) % 8);
      return field;
    }
    field.element = static_cast<Element>(
        as_choice(table.require("element", "float, double, int32 or int64"), path + ".element", kElements));
    if (!field.array()) {
      for (const char* const key : {"dims", "optional", "low", "high"})
        if (table.find(key) != nullptr) table.fail(key, "a scalar has none");
      return field;
    }
    read_array(table, path, arrays, field);
    return field;
  }

  void read_array(const TableReader& table, const std::string& path, std::size_t arrays, ArgumentField& field) {
    std::vector<Expression> dims;
    for (const Value& each :
         as_array(table.require("dims", "[\"rows\", \"cols\"], of the sizes before"), path + ".dims"))
      dims.push_back(expression(each, path + ".dims"));
    if (dims.empty()) table.fail("dims", "has no formulas");
    field.dims = [dims, offsets = size_offsets_](const void* args) {
      const std::vector<std::int64_t> sizes = sizes_in(args, offsets);
      Dims found;
      for (const Expression& each : dims) found.push_back(std::max<std::int64_t>(0, std::int64_t(each.of(sizes))));
      return found;
    };
    array_dims_.push_back(dims);
    if (const Value* const found = table.find("optional")) field.optional = as_bool(*found, path + ".optional");
    if (field.optional && field.written()) table.fail("optional", "only an input may be null");
    const Value *const low = table.find("low"), *const high = table.find("high");
    if ((low == nullptr) != (high == nullptr))
      table.fail(low == nullptr ? "low" : "high", "missing; low and high go together");
    if (low == nullptr) return;
    if (field.kind == ArgumentField::Kind::output) table.fail("low", "an output is never read");
    constexpr NumberRange kAny{.min = -1e9, .max = 1e9};
    const InputRange range{arrays, as_number(*low, path + ".low", kAny), as_number(*high, path + ".high", kAny)};
    if (range.low >= range.high) table.fail("high", "must be above low");
    ranges_.push_back(range);
  }

  Expression expression(const Value& value, const std::string& path) {
    try {
      return Expression(as_string(value, path), sizes_);
    } catch (const Error& error) {
      if (value.string() == nullptr) throw;
      fail_at(value, path, error.what());
    }
  }

  static std::vector<std::int64_t> sizes_in(const void* args, const std::vector<std::size_t>& offsets) {
    std::vector<std::int64_t> sizes(offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i)
      std::memcpy(&sizes[i], static_cast<const std::byte*>(args) + offsets[i], sizeof sizes[i]);
    return sizes;
  }

  /// Fills arrays with a range of their own: low <= x < high for numbers, low <= i <= high for integers.
  std::function<void(void*, CaseRandom&)> prepare() const {
    std::vector<ArgumentField> arrays;
    for (const ArgumentField& each : e_.fields)
      if (each.array()) arrays.push_back(each);
    return [arrays, ranges = ranges_](void* args, CaseRandom& random) {
      for (const InputRange& range : ranges) {
        const ArgumentField& field = arrays[range.array];
        void* place = nullptr;
        std::memcpy(&place, static_cast<const std::byte*>(args) + field.offset, sizeof place);
        if (place == nullptr) continue;
        for (std::int64_t i = 0; i < count_of_dims(field.dims(args)); ++i) {
          const double u = double(random.uniform());
          const double number = range.low + u * (range.high - range.low);
          const double integer = range.low + std::floor(u * (range.high - range.low + 1));
          if (field.element == Element::float32) static_cast<float*>(place)[i] = float(number);
          if (field.element == Element::float64) static_cast<double*>(place)[i] = number;
          if (field.element == Element::int32) static_cast<std::int32_t*>(place)[i] = std::int32_t(integer);
          if (field.element == Element::int64) static_cast<std::int64_t*>(place)[i] = std::int64_t(integer);
        }
      }
    };
  }

  CaseShape read_shape(const Value& value, const std::string& path) {
    CaseShape shape;
    for (const Value& each : as_array(value, path))
      shape.push_back(as_integer(each, path, {.min = 0, .max = std::int64_t{1} << 32}));
    if (shape.size() != sizes_.size())
      fail_at(
          value, path,
          fmt::format("must have {}: {}", count_of(std::int64_t(sizes_.size()), "number"), fmt::join(sizes_, ", ")));
    if (!e_.legal(shape)) fail_at(value, path, "an array of these sizes would have fewer than 0 elements, or too many");
    return shape;
  }

  void read_shapes() {
    e_.legal = [dims = array_dims_](const CaseShape& shape) {
      for (const std::vector<Expression>& array : dims) {
        double count = 1;
        for (const Expression& each : array) {
          const double size = each.of(shape);
          if (size < 0) return false;
          count *= size;
        }
        if (count > double(kMostElements)) return false;
      }
      return true;
    };
    if (const Value* const most = table_.find("most")) {
      for (const CaseShape& shape : awkward_shapes(read_shape(*most, "definition.most")))
        if (e_.legal(shape)) e_.shapes.push_back(shape);
    }
    if (const Value* const shapes = table_.find("shapes"))
      for (const Value& each : as_array(*shapes, "definition.shapes"))
        e_.shapes.push_back(read_shape(each, "definition.shapes"));
    if (e_.shapes.empty())
      table_.fail("shapes", "missing; give shapes, or most = the largest sizes, from which awkward shapes are made");
    e_.timed = read_shape(table_.require("timed", "the sizes of the speed test"), "definition.timed");
  }

  void read_cost() {
    const Expression flops = expression(table_.require("flops", "operations of a call: \"2 * n\""), "definition.flops");
    const Expression bytes =
        expression(table_.require("bytes", "moved to and from memory by a call: \"12 * n\""), "definition.bytes");
    const auto offsets = size_offsets_;
    e_.cost = [flops, bytes, offsets](const void* args) {
      const std::vector<std::int64_t> sizes = sizes_in(args, offsets);
      return Cost{flops.of(sizes), bytes.of(sizes)};
    };
    if (const Value* const found = table_.find("terms"))
      e_.terms = [terms = expression(*found, "definition.terms"), offsets](const void* args) {
        return std::int64_t(terms.of(sizes_in(args, offsets)));
      };
  }

  void read_kernels() {
    own_->oracle = file("oracle", "the right kernel: \"oracle.cpp\"");
    std::vector<OwnLibrary::Source> sources = {{own_->oracle, false}};
    const bool fast = table_.find("fast") != nullptr;
    if (fast) sources.push_back({file("fast", ""), true});
    const std::size_t first = sources.size();
    if (const Value* const all = table_.find("mistakes"))
      for (const Value& each : as_array(*all, "definition.mistakes")) {
        const std::string path = fmt::format("definition.mistakes[{}]", own_->mistakes.size());
        const TableReader table(each, path, {"cause", "words", "source", "rounding"});
        Mistake mistake{.cause = as_string(table.require("cause", "a word: \"descending\""), path + ".cause"),
                        .words = as_string(table.require("words", "a sentence for the student"), path + ".words")};
        if (const Value* const rounding = table.find("rounding"))
          mistake.rounding = as_bool(*rounding, path + ".rounding");
        own_->mistakes.push_back(file_at(table.require("source", "a kernel with this mistake"), path + ".source"));
        sources.push_back({own_->mistakes.back(), false});
        e_.mistakes.push_back(std::move(mistake));
      }
    const auto library = std::make_shared<OwnLibrary>(e_.function, header_text(e_), std::move(sources));
    e_.oracle = [library](const void* args) { library->call(0, args); };
    e_.fast = [library, which = fast ? 1 : 0](const void* args, int threads) {
      library->call(static_cast<std::size_t>(which), args, threads);
    };
    for (std::size_t i = 0; i < e_.mistakes.size(); ++i)
      e_.mistakes[i].run = [library, which = first + i](const void* args) { library->call(which, args); };
  }

  TableReader table_;
  std::shared_ptr<OwnExercise> own_;
  Exercise& e_;
  std::vector<std::string> sizes_{};
  std::vector<std::size_t> size_offsets_{};
  std::vector<InputRange> ranges_{};
  std::vector<std::vector<Expression>> array_dims_{};
};

}  // namespace

std::shared_ptr<const OwnExercise> read_definition(const fs::path& folder, const Value& definition) {
  return DefinitionReader(folder, definition).read();
}

}  // namespace lockstep::cli
