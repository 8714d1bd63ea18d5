#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"

namespace lockstep {

const std::vector<std::string>& checkpoint_keys() {
  static const std::vector<std::string> keys = {"every_steps", "every_minutes"};
  return keys;
}

CheckpointConfig read_checkpoint(const Value& section) {
  const TableReader table(section, "checkpoint", checkpoint_keys(), all_keys());
  CheckpointConfig checkpoint;
  table.read("every_steps", checkpoint.every_steps, {0, 1'000'000'000'000});
  table.read("every_minutes", checkpoint.every_minutes, {.max = 1'000'000});
  return checkpoint;
}

}  // namespace lockstep
