#include "lockstep/model/json_check.hpp"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

constexpr std::size_t kMaxBytes = 16 << 20;
constexpr std::size_t kMaxDepth = 64;

/// Hears the text piece by piece; keeps only the keys of the objects that are open.
class Listener {
 public:
  explicit Listener(std::string_view name) : name_(name) {}

  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& text) {
    if (!keys_.back().insert(text).second)
      throw Error(ExitCode::checkpoint,
                  fmt::format("{}: the key \"{}\" stands twice in one object", name_, printable(text)));
    return true;
  }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(std::vector<std::uint8_t>&) { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    throw Error(ExitCode::checkpoint, fmt::format("{}: byte {}: not JSON here", name_, position - 1));
  }

 private:
  bool open() {
    if (keys_.size() == kMaxDepth)
      throw Error(ExitCode::checkpoint, fmt::format("{}: nested more than {} deep", name_, kMaxDepth));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view name_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

void check_json(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBytes)
    throw Error(ExitCode::checkpoint, fmt::format("{}: {} bytes, at most {} are read", name, text.size(), kMaxBytes));
  Listener listener(name);
  nlohmann::json::sax_parse(text, &listener);
}

}  // namespace lockstep
