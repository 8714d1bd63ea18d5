#include <fmt/format.h>

#include "lockstep/config/record_writer.hpp"
#include "lockstep/config/section_fields.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/data/data_fields.hpp"

namespace lockstep {

namespace {

std::string section(std::string_view name, const std::vector<std::string>& entries) {
  return fmt::format("[{}]\n{}\n", name, fmt::join(entries, "\n"));
}

/// Where the defaults of shuffle and stratify depend on the source both are said; elsewhere absent means false.
DataConfig with_division(DataConfig data) {
  const bool says_both = !is_named_source(data.source) && data.split.any();
  const bool shuffles = data.shuffles(), stratifies = data.stratifies();
  data.shuffle = shuffles || says_both ? std::optional(shuffles) : std::nullopt;
  data.stratify = stratifies || says_both ? std::optional(stratifies) : std::nullopt;
  return data;
}

std::vector<std::string> model_entries(const ModelConfig& model) {
  return {fmt::format("input = [{}]", fmt::join(model.input.extents(), ", ")),
          fmt::format("layers = {}", toml_text(model.layers, 2)),
          fmt::format("precision = {}", toml_quote(to_string(model.precision))),
          fmt::format("init = {}", model.init_file.empty() ? toml_text(model.init) : toml_quote(model.init_file))};
}

}  // namespace

std::string resolved_toml(const RunConfig& config) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", section("data", toml_entries(with_division(config.data), data_fields())),
                     section("model", model_entries(config.model)),
                     section("train", toml_entries(config, train_fields())),
                     section("checkpoint", toml_entries(config.checkpoint, checkpoint_fields())),
                     section("parallel", toml_entries(config.train.parallel, parallel_fields())));
}

}  // namespace lockstep
