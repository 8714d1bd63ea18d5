#include "lockstep/data/formats/ts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {

namespace {

/// What the header says, as far as it matters.
struct TsHeader {
  std::vector<std::string> class_names;
  std::map<std::string, double, std::less<>> places;  // of the classes in class_names
  bool classes = false, targets = false;
};

class TsParser {
 public:
  TsParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  TsFile parse() {
    read_header();
    for (std::string_view line = next_line(); !ended_; line = next_line())
      if (!line.empty()) read_sequence(line);
    if (lengths_.empty()) fail("there is no sequence behind @data");
    return finish();
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorCode::data, fmt::format("{}: line {}: {}", name_, line_, what));
  }

  /// Without the spaces around it; `ended_` behind the last line.
  std::string_view next_line() {
    ended_ = at_ >= text_.size();
    if (ended_) return {};
    ++line_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return trimmed(line);
  }

  static std::string_view first_word(std::string_view& rest) {
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    return word;
  }

  bool flag(std::string_view key, std::string_view& rest) const {
    const std::string word = lower_case(std::string(first_word(rest)));
    if (word != "true" && word != "false") fail(fmt::format("{} is followed by true or false", key));
    return word == "true";
  }

  void read_header() {
    while (true) {
      std::string_view rest = next_line();
      if (ended_) fail("@data is missing: this is no .ts file");
      if (rest.empty() || rest.front() == '#' || rest.front() == '%') continue;
      if (rest.front() != '@')
        fail(fmt::format("a line of the header begins with @ or #, not with \"{}\"", printable(rest.substr(0, 20))));
      const std::string key = lower_case(std::string(first_word(rest)));
      if (key == "@data") return;
      if (key == "@timestamps" && flag(key, rest)) fail("sequences with time stamps are not read; leave them out");
      if (key == "@targetlabel") header_.targets = flag(key, rest);
      if (key == "@classlabel") read_classes(key, rest);
    }
  }

  void read_classes(std::string_view key, std::string_view rest) {
    header_.classes = flag(key, rest);
    while (header_.classes && !rest.empty()) {
      const std::string label(first_word(rest));
      if (!header_.places.emplace(label, double(header_.class_names.size())).second)
        fail(fmt::format("the class \"{}\" stands twice in @classLabel", printable(label)));
      header_.class_names.push_back(label);
    }
    if (header_.classes && header_.class_names.empty()) fail("@classLabel true is followed by the classes");
  }

  double number(std::string_view text) const {
    const auto value = parse_number<double>(trimmed(text));
    if (!value || !std::isfinite(*value))
      fail(fmt::format("\"{}\" is no finite number; fill in missing values before training", printable(trimmed(text))));
    return *value;
  }

  void read_target(std::string_view text) {
    if (!header_.classes) return targets_.push_back(number(text));
    const auto found = header_.places.find(trimmed(text));
    if (found == header_.places.end())
      fail(fmt::format("the class \"{}\" is not one of @classLabel", printable(trimmed(text))));
    targets_.push_back(found->second);
  }

  /// The values of all dimensions go behind each other into values_.
  void read_sequence(std::string_view line) {
    const bool labelled = header_.classes || header_.targets;
    if (labelled) {
      const std::size_t last = line.rfind(':');
      if (last == std::string_view::npos) fail("the class or target behind the last colon is missing");
      read_target(line.substr(last + 1));
      line = line.substr(0, last);
    }
    std::int64_t dimensions = 0, steps = 0;
    while (true) {
      const std::size_t end = std::min(line.find(':'), line.size());
      const std::int64_t own = read_dimension(line.substr(0, end));
      if (++dimensions > 1 && own != steps)
        fail(fmt::format("dimension {} has {} and the first one {}", dimensions, count_of(own, "step"), steps));
      steps = own;
      if (end == line.size()) break;
      line = line.substr(end + 1);
    }
    if (!lengths_.empty() && dimensions != dimensions_)
      fail(fmt::format("{}, the first sequence has {}", count_of(dimensions, "dimension"), dimensions_));
    dimensions_ = dimensions;
    lengths_.push_back(steps);
  }

  std::int64_t read_dimension(std::string_view text) {
    std::int64_t steps = 0;
    while (true) {
      const std::size_t end = std::min(text.find(','), text.size());
      values_.push_back(number(text.substr(0, end)));
      ++steps;
      if (end == text.size()) return steps;
      text = text.substr(end + 1);
    }
  }

  TsFile finish() {
    const auto samples = static_cast<std::int64_t>(lengths_.size());
    const auto [shortest, longest] = std::ranges::minmax(lengths_);
    // A file of many short sequences and a long one must not take memory out of all proportion to its size.
    const auto bytes = checked_product({samples, dimensions_, longest, 8});
    const auto most = static_cast<std::int64_t>(text_.size()) * 128 + (1 << 20);
    if (!bytes || *bytes > most)
      throw Error(ErrorCode::data, fmt::format("{}: its {} of up to {} steps would be padded to many times the size of "
                                               "the file; cut the longest ones",
                                               name_, count_of(samples, "sequence"), longest));
    TsFile file{.values = make_array(ElementType::float64, {samples, dimensions_, longest}),
                .lengths = {},
                .targets = std::nullopt,
                .class_names = std::move(header_.class_names)};
    const auto out = file.values.as<double>();
    const double* from = values_.data();
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t d = 0; d < dimensions_; ++d) {
        const std::int64_t steps = lengths_[static_cast<std::size_t>(s)];
        std::copy_n(from, steps, out.data() + (s * dimensions_ + d) * longest);
        from += steps;
      }
    if (header_.classes || header_.targets) {
      file.targets = make_array(ElementType::float64, {samples});
      std::ranges::copy(targets_, file.targets->as<double>().begin());
    }
    if (shortest != longest) file.lengths = std::move(lengths_);
    return file;
  }

  std::string_view text_, name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 0;
  bool ended_ = false;
  TsHeader header_;
  std::int64_t dimensions_ = 0;
  std::vector<double> values_, targets_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace

TsFile parse_ts(std::span<const std::byte> bytes, std::string_view name) {
  return TsParser({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name).parse();
}

TsFile read_ts(const std::filesystem::path& path) { return parse_ts(read_data_file(path), path.string()); }

}  // namespace lockstep
