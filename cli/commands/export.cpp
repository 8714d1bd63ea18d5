#include "cli/commands/export.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/commands/model_data.hpp"
#include "cli/output/json.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/export.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/theta.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

void run_export(const ExportArguments& arguments, Console& console) {
  const Model model = open_model(arguments.model, console);
  std::error_code error;
  if (fs::exists(arguments.out, error)) {
    if (fs::equivalent(arguments.model, arguments.out, error))
      throw Error(ExitCode::usage, fmt::format("{}: is the model itself; give another name", arguments.out));
    if (!arguments.overwrite)
      throw Error(ExitCode::usage,
                  fmt::format("{}: exists; give another name, or --overwrite to replace it", arguments.out));
  }
  export_model(model.network, arguments.out, weight_rule(model.info.preparation.value_or(DataConfig())));
  const auto bytes = static_cast<std::int64_t>(fs::file_size(arguments.out, error));
  if (console.json()) {
    const Json json = {{"file", arguments.out}, {"bytes", bytes}, {"weight_hash", weight_hash(model.network.values())}};
    console.print(fmt::format("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace)));
  } else {
    console.print(fmt::format("{}  {} bytes\n", one_line(arguments.out), with_commas(bytes)));
  }
}

}  // namespace lockstep::cli
