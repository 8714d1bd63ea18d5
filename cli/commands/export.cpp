// lockstep export MODEL OUT: the weights (.safetensors, .npz, .mat) or the whole network (.onnx) for other programs.

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
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

namespace {

struct ExportArguments {
  std::string model{}, out{};
  bool overwrite = false, raw = false;
};

void run_export(const ExportArguments& arguments, Console& console) {
  const Model model = open_model(arguments.model, console);
  std::error_code error;
  if (fs::exists(arguments.out, error)) {
    if (fs::equivalent(model_file(arguments.model), arguments.out, error))
      throw Error(ErrorCode::usage, fmt::format("{}: is the model itself; give another name", arguments.out));
    if (!arguments.overwrite)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: exists; give another name, or --overwrite to replace it", arguments.out));
  }
  if (model.info.lengths && fs::path(arguments.out).extension() == ".onnx")
    throw Error(ErrorCode::usage,
                fmt::format("{}: the model reads sequences that end at different steps, and its ONNX form has no input "
                            "for their lengths; export .safetensors",
                            arguments.out));
  const bool onnx = fs::path(arguments.out).extension() == ".onnx";
  if (arguments.raw && !onnx)
    throw Error(ErrorCode::usage, fmt::format("--raw is for .onnx files, not for {}", arguments.out));
  export_model(model.network, model.info, arguments.out, arguments.raw);
  const auto bytes = static_cast<std::int64_t>(fs::file_size(arguments.out, error));
  if (console.json()) {
    Json json = {{"file", arguments.out}, {"bytes", bytes}, {"weight_hash", weight_hash(model.network.values())}};
    if (onnx) json.update({{"opset", kOnnxOpset}, {"raw", arguments.raw}});
    console.print(fmt::format("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace)));
  } else {
    const std::string form = !onnx           ? ""
                             : arguments.raw ? fmt::format(", opset {}: scaled numbers to outputs", kOnnxOpset)
                                             : fmt::format(", opset {}: raw numbers to probabilities", kOnnxOpset);
    const bool values = onnx && !arguments.raw && (!model.info.loss || is_of_values(*model.info.loss));
    console.print(fmt::format("{}  {} bytes{}\n", one_line(arguments.out), with_commas(bytes),
                              values ? fmt::format(", opset {}: raw numbers to outputs", kOnnxOpset) : form));
  }
}

}  // namespace

RunCommand export_command(Options& options) {
  const auto arguments = std::make_shared<ExportArguments>();
  options.examples(R"(Examples:
  lockstep export model.safetensors model.onnx         the network, for ONNX runtimes: raw numbers to probabilities
  lockstep export model.safetensors model.onnx --raw   without the nodes that scale and the last softmax or sigmoid
  lockstep export model.safetensors weights.npz        arrays for NumPy
  lockstep export model.safetensors weights.mat        Theta1, Theta2, ... for MATLAB; linear layers only
  lockstep export model.safetensors plain.safetensors  the weights alone)");
  options.argument("model", arguments->model, {"MODEL", "The model: a file, or a run directory"});
  options.argument("out", arguments->out, {"OUT.{onnx,npz,mat,safetensors}", "The file to write"});
  options.flag("--raw", arguments->raw, "ONNX: leave out the scaling of inputs and the softmax or sigmoid at the end");
  options.flag("--overwrite", arguments->overwrite, "Replace OUT where it exists");
  return [arguments](Console& console) { run_export(*arguments, console); };
}

}  // namespace lockstep::cli
