#include "lockstep/model/export_onnx.hpp"

#include "lockstep/model/onnx_graph.hpp"

namespace lockstep {

std::vector<std::byte> write_onnx(const Network& network) {
  OnnxGraph graph(network.precision());
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
