#include "lockstep/core/planted_fault.hpp"

#include <sched.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep {

namespace {

constexpr const char* kPlantFault = "LOCKSTEP_PLANT_FAULT";
constexpr std::array<std::string_view, 7> kFaultKinds = {"activation", "gradient", "score",  "weight",
                                                         "state",      "save",     "message"};
constexpr std::string_view kCorePrefix = "core:";

}  // namespace

PlantedFault PlantedFault::from_environment() {
  PlantedFault fault;
  const auto text = environment_text(kPlantFault);
  if (!text) return fault;
  const std::size_t at = std::min(text->find('@'), text->size());
  fault.kind_ = text->substr(0, at);
  std::string_view when = at < text->size() ? std::string_view(*text).substr(at + 1) : std::string_view();
  const bool on_core = when.starts_with(kCorePrefix);
  if (on_core) when.remove_prefix(kCorePrefix.size());
  const auto number = parse_number<int>(when);
  const bool known = std::find(kFaultKinds.begin(), kFaultKinds.end(), fault.kind_) != kFaultKinds.end();
  if (!known || (when != "all" && (!number || *number < (on_core ? 0 : 1))) || (on_core && !number))
    throw Error(ErrorCode::usage,
                fmt::format("{}={}: KIND@STEP, KIND@all or KIND@core:NUMBER is expected, where KIND is one of {}",
                            kPlantFault, one_line(*text), fmt::join(kFaultKinds, ", ")));
  if (on_core)
    fault.core_ = *number;
  else
    fault.number_ = number.value_or(0);
  return fault;
}

bool PlantedFault::is_due(std::string_view kind, std::int64_t number) const {
  return kind_ == kind && core_ < 0 && (number_ == 0 || number_ == number);
}

bool PlantedFault::is_on_this_core(std::string_view kind) const { return kind_ == kind && core_ == ::sched_getcpu(); }

}  // namespace lockstep
