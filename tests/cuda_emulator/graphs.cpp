// Graphs of kernels. A node runs when those that it depends on have run, of several the last one first: a dependency
// that was forgotten shows.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "counters.hpp"
#include "cuda_runtime.h"
#include "streams.hpp"

struct CUgraphNode_st {
  cudaKernelNodeParams kernel;
  std::vector<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

namespace {

/// A node of an executable graph: what it was made from only tells which one is meant.
struct ExecutableNode {
  const CUgraphNode_st* origin;
  cudaKernelNodeParams kernel;
};

}  // namespace

struct CUgraphExec_st {
  std::vector<ExecutableNode> nodes;
};

using namespace cuda_emulator;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (flags != 0) return cudaErrorInvalidValue;
  *graph = new CUgraph_st;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
  const auto lock = lock_emulator();
  auto made = std::make_unique<CUgraphNode_st>(CUgraphNode_st{*parameters, {}});
  for (std::size_t i = 0; i < count; ++i) {
    const bool known =
        std::ranges::any_of(graph->nodes, [&](const auto& other) { return other.get() == dependencies[i]; });
    if (!known) return cudaErrorInvalidValue;
    made->after.push_back(dependencies[i]);
  }
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const auto lock = lock_emulator();
  *executable = new CUgraphExec_st;
  std::vector<const CUgraphNode_st*> left, done;
  for (const auto& node : graph->nodes) left.push_back(node.get());
  while (!left.empty()) {
    const auto ready = std::find_if(left.rbegin(), left.rend(), [&](const CUgraphNode_st* node) {
      return std::ranges::all_of(node->after, [&](const auto* other) { return std::ranges::count(done, other) > 0; });
    });
    done.push_back(*ready);
    (*executable)->nodes.push_back({*ready, (*ready)->kernel});
    left.erase(std::next(ready).base());
  }
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  const auto lock = lock_emulator();
  const auto found = std::ranges::find(executable->nodes, node, &ExecutableNode::origin);
  if (found == executable->nodes.end() || found->kernel.func != parameters->func) return cudaErrorInvalidValue;
  found->kernel = *parameters;
  ++counters().node_updates;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const auto lock = lock_emulator();
  ++counters().graphs;
  for (const ExecutableNode& node : executable->nodes) {
    const cudaKernelNodeParams& k = node.kernel;
    const cudaError_t error = enqueue_kernel(k.call.name, k.grid, k.block, k.sharedMemBytes, stream, k.call.section,
                                             k.call.thread, k.call.arguments);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
}
