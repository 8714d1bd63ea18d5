#include "lockstep/model/export.hpp"

#include <algorithm>
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
  throw Error(ErrorCode::usage,
              fmt::format("{}: models are exported to .safetensors, .npz, .mat or .onnx files", path.string()));
}

}  // namespace

void export_model(const Network& network, const std::filesystem::path& path, std::optional<LabelRule> rule,
                  std::span<const std::string> class_names) {
  write_file_atomically(path, bytes_for(network, path, rule, class_names));
}

void export_model(const Network& network, const ModelInfo& info, const std::filesystem::path& path, bool raw) {
  if (path.extension() == ".onnx")
    write_file_atomically(path, write_onnx(network, info, raw));
  else
    export_model(network, path, weight_rule(info.preparation.value_or(DataConfig())), info.class_names);
}

namespace {

/// A constant in the precision of the network.
std::string constant(OnnxGraph& graph, const std::string& name, const Shape& shape, std::span<const double> values,
                     Precision precision) {
  if (precision == Precision::float64) return graph.tensor(name, shape, std::as_bytes(values));
  const std::vector<float> narrow(values.begin(), values.end());
  return graph.tensor(name, shape, std::as_bytes(std::span(narrow)));
}

/// Raw numbers become the network's inputs: x * scale + offset.
std::string scaled_input(OnnxGraph& graph, const Network& network, const ModelInfo& info, std::string x) {
  const Shape shape = info.scale.size() == 1 ? Shape{1} : network.input();
  const auto all = [](const std::vector<double>& values, double same) {
    return std::ranges::all_of(values, [&](double value) { return value == same; });
  };
  if (!all(info.scale, 1))
    x = graph.node("Mul", {x, constant(graph, "scale", shape, info.scale, network.precision())}, "scaled", {});
  if (!all(info.offset, 0))
    x = graph.node("Add", {x, constant(graph, "offset", shape, info.offset, network.precision())}, "scaled", {});
  return x;
}

/// What turns logits into probabilities; "" where the network ends in them, or has none.
std::string last_node(const Network& network, const ModelInfo& info) {
  if (!info.loss || network.layers().empty()) return "";
  const LayerKind& last = network.layers().back().kind;
  if (is_of_softmax(*info.loss)) return std::holds_alternative<Softmax>(last) ? "" : "Softmax";
  const bool bits = *info.loss == Loss::binary_cross_entropy;
  return bits && !std::holds_alternative<Sigmoid>(last) ? "Sigmoid" : "";
}

void add_weights(OnnxGraph& graph, const Network& network) {
  std::visit(
      [&](const auto& values) {
        for (const ParameterInfo& info : network.parameters())
          graph.tensor(info.name, info.shape,
                       std::as_bytes(values.span().subspan(static_cast<std::size_t>(info.offset),
                                                           static_cast<std::size_t>(info.elements()))));
      },
      network.values());
}

void add_names(OnnxGraph& graph, std::span<const std::string> class_names) {
  if (class_names.empty()) return;
  graph.metadata("class_names", nlohmann::ordered_json(std::vector<std::string>(class_names.begin(), class_names.end()))
                                    .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::vector<std::byte> write_onnx(const Network& network, std::span<const std::string> class_names) {
  OnnxGraph graph(network.precision());
  add_names(graph, class_names);
  add_weights(graph, network);
  const std::string result = onnx_sequence(graph, network.plans(), OnnxGraph::kInput);
  return graph.finish(result, network.input(), network.output());
}

std::vector<std::byte> write_onnx(const Network& network, const ModelInfo& info, bool raw) {
  OnnxGraph graph(network.precision());
  add_names(graph, info.class_names);
  if (info.loss) graph.metadata("loss", std::string(name_of(*info.loss)));
  graph.metadata("input", raw ? "scaled numbers" : "raw numbers");
  if (!raw && info.bytes) graph.metadata("white", "255");
  add_weights(graph, network);
  std::string x = OnnxGraph::kInput;
  if (!raw && !info.scale.empty()) x = scaled_input(graph, network, info, x);
  x = onnx_sequence(graph, network.plans(), x);
  if (const std::string last = last_node(network, info); !raw && last == "Softmax")
    x = graph.node(last, {x}, "probabilities", {{"axis", std::int64_t{1}}});
  else if (!raw && !last.empty())
    x = graph.node(last, {x}, "probabilities", {});
  return graph.finish(x, network.input(), network.output());
}

}  // namespace lockstep
