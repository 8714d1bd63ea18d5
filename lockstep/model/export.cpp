#include "lockstep/model/export.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/model/onnx_graph.hpp"
#include "lockstep/model/seal.hpp"
#include "lockstep/model/theta.hpp"
#include "lockstep/model/weights.hpp"

namespace lockstep {

namespace {

std::vector<std::byte> bytes_for(const Network& network, const std::filesystem::path& path,
                                 std::optional<LabelRule> rule, std::span<const std::string> class_names) {
  const std::string extension = path.extension().string();
  // Some readers ask which program's conventions the names and shapes follow: "pt" is PyTorch.
  if (extension == ".safetensors") return write_sealed({{{"format", "pt"}}, named_weights(network)});
  if (extension == ".npz") return write_npz(named_weights(network));
  if (extension == ".mat") return write_mat5(thetas(network, rule));
  if (extension == ".onnx") return write_onnx(network, class_names);
  throw Error(ExitCode::usage,
              fmt::format("{}: models are exported to .safetensors, .npz, .mat or .onnx files", path.string()));
}

}  // namespace

void export_model(const Network& network, const std::filesystem::path& path, std::optional<LabelRule> rule,
                  std::span<const std::string> class_names) {
  write_file_atomically(path, bytes_for(network, path, rule, class_names));
}

std::vector<std::byte> write_onnx(const Network& network, std::span<const std::string> class_names) {
  OnnxGraph graph(network.precision());
  if (!class_names.empty())
    graph.metadata("class_names", nlohmann::ordered_json(std::vector<std::string>(class_names.begin(), class_names.end()))
                                      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::visit(
      [&](const auto& values) {
        for (const ParameterInfo& info : network.parameters())
          graph.tensor(info.name, info.shape,
                       std::as_bytes(values.span().subspan(static_cast<std::size_t>(info.offset),
                                                           static_cast<std::size_t>(info.elements()))));
      },
      network.values());
  const std::string result = onnx_sequence(graph, network.plans(), OnnxGraph::kInput);
  return graph.finish(result, network.input(), network.output());
}

}  // namespace lockstep
