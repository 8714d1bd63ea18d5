#include <fmt/format.h>

#include "lockstep/config/record_reader.hpp"
#include "lockstep/config/section_fields.hpp"
#include "lockstep/config/sections.hpp"

namespace lockstep {

std::int64_t as_integer_or_word(const Value& value, std::string_view path, std::string_view word, IntRange range) {
  if (value.string() == nullptr) return as_integer(value, path, range);
  if (*value.string() != word)
    fail_at(value, path,
            fmt::format("must be \"{}\" or a whole number from {} to {}, got {}", word, range.min, range.max,
                        excerpt(value)));
  return 0;
}

const std::vector<std::string>& train_keys() {
  static const std::vector<std::string> keys = field_names(RunConfig{}, train_fields());
  return keys;
}
const std::vector<std::string>& checkpoint_keys() {
  static const std::vector<std::string> keys = field_names(CheckpointConfig{}, checkpoint_fields());
  return keys;
}
const std::vector<std::string>& parallel_keys() {
  static const std::vector<std::string> keys = field_names(ParallelOptions{}, parallel_fields());
  return keys;
}

void read_train(const Value& section, RunConfig& config) {
  read_fields(TableReader(section, "train", train_keys(), all_keys()), {"train"}, "train", train_fields(), config);
}
void read_checkpoint(const Value& section, CheckpointConfig& checkpoint) {
  const TableReader table(section, "checkpoint", checkpoint_keys(), all_keys());
  read_fields(table, {"checkpoint"}, "checkpoint", checkpoint_fields(), checkpoint);
}
void read_parallel(const Value& section, ParallelOptions& parallel) {
  const TableReader table(section, "parallel", parallel_keys(), all_keys());
  read_fields(table, {"parallel"}, "parallel", parallel_fields(), parallel);
}

}  // namespace lockstep
