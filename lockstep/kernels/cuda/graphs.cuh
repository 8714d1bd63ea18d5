#pragma once
// Launches wait here until somebody needs what they do, and are then given to the device together. A row of launches
// that comes again, with other arguments at most, is a graph from its second time on: the driver takes it as one piece
// of work, and only nodes whose arguments changed are told so. Included by plugin_handle.cuh only.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <vector>

#include "lockstep/kernels/cuda/kernels.cuh"
#include "lockstep/kernels/cuda/plugin.hpp"

namespace lockstep::cuda {

/// One launch of a row; its arguments lie among those of the row.
struct RowLaunch {
  const KernelEntry* kernel;
  std::uint32_t grid[3], block[3];
  std::size_t first;
  std::int32_t count;

  bool has_shape_of(const RowLaunch& other) const {
    return kernel == other.kernel && count == other.count && std::memcmp(grid, other.grid, sizeof grid) == 0 &&
           std::memcmp(block, other.block, sizeof block) == 0;
  }
};

struct Row {
  std::vector<RowLaunch> launches;
  std::vector<CudaArgument> arguments;

  void add(const KernelEntry* kernel, const CudaLaunch& launch) {
    RowLaunch entry{kernel, {}, {}, arguments.size(), launch.count};
    std::copy_n(launch.grid, 3, entry.grid);
    std::copy_n(launch.block, 3, entry.block);
    launches.push_back(entry);
    arguments.insert(arguments.end(), launch.arguments, launch.arguments + launch.count);
  }
  void clear() {
    launches.clear();
    arguments.clear();
  }
  CudaLaunch launch(std::size_t i) const {
    const RowLaunch& entry = launches[i];
    CudaLaunch result{};
    result.kernel = entry.kernel->name;
    std::copy_n(entry.grid, 3, result.grid);
    std::copy_n(entry.block, 3, result.block);
    result.arguments = arguments.data() + entry.first;
    result.count = entry.count;
    return result;
  }
  bool has_shape_of(const Row& other) const {
    return std::equal(launches.begin(), launches.end(), other.launches.begin(), other.launches.end(),
                      [](const RowLaunch& a, const RowLaunch& b) { return a.has_shape_of(b); });
  }
  /// Of a row of the same shape: whether launch i has the same arguments.
  bool agrees(const Row& other, std::size_t i) const {
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(launches[i].first);
    return std::equal(first, first + launches[i].count,
                      other.arguments.begin() + static_cast<std::ptrdiff_t>(launches[i].first),
                      [](const CudaArgument& a, const CudaArgument& b) { return a.address == b.address; });
  }
};

/// A row that was seen, and from its second time on the graph of it.
class Graph {
 public:
  explicit Graph(const Row& row) : row_(row) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }

  const Row& row() const { return row_; }

  /// Starts a row of this shape.
  cudaError_t start(const Row& row, cudaStream_t stream) {
    const cudaError_t error = executable_ == nullptr ? build(row) : update(row);
    return error == cudaSuccess ? cudaGraphLaunch(executable_, stream) : error;
  }

 private:
  /// One node behind the other: launches of a device happen in their order.
  cudaError_t build(const Row& row) {
    row_ = row;
    if (graph_ != nullptr) cudaGraphDestroy(graph_);  // of a try that failed
    graph_ = nullptr;
    cudaError_t error = cudaGraphCreate(&graph_, 0);
    nodes_.assign(row.launches.size(), nullptr);
    for (std::size_t i = 0; i < nodes_.size() && error == cudaSuccess; ++i)
      error = put(row, i, {graph_, nullptr, i == 0 ? nullptr : &nodes_[i - 1], &nodes_[i]});
    return error == cudaSuccess ? cudaGraphInstantiateWithFlags(&executable_, graph_, 0) : error;
  }
  cudaError_t update(const Row& row) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (row.agrees(row_, i)) continue;
      if (const cudaError_t error = put(row, i, {nullptr, executable_, nullptr, &nodes_[i]}); error != cudaSuccess)
        return error;
    }
    row_.arguments = row.arguments;
    return cudaSuccess;
  }
  static cudaError_t put(const Row& row, std::size_t i, const GraphPlace& place) {
    const KernelEntry& kernel = *row.launches[i].kernel;
    return kernel.put(kernel.name, row.launch(i), place);
  }

  Row row_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
};

/// What was launched and has not been started.
class LaunchQueue {
 public:
  void use_graphs(bool on) { use_graphs_ = on; }
  bool waits() const { return use_graphs_; }
  bool is_full() const { return row_.launches.size() >= kMostWaiting; }
  void add(const KernelEntry* kernel, const CudaLaunch& launch) { row_.add(kernel, launch); }
  /// The graphs go before the device does.
  void close() {
    row_.clear();
    graphs_.clear();
  }

  /// Starts everything. `what`: where an error came from.
  cudaError_t start(cudaStream_t stream, const char*& what) {
    if (row_.launches.empty()) return cudaSuccess;
    what = "a graph of kernels";
    Graph* const graph = row_.launches.size() >= kWorth ? find() : nullptr;
    cudaError_t error = cudaSuccess;
    if (graph != nullptr)
      error = graph->start(row_, stream);
    else
      for (std::size_t i = 0; i < row_.launches.size() && error == cudaSuccess; ++i) {
        what = row_.launches[i].kernel->name;
        error = row_.launches[i].kernel->start(what, row_.launch(i), stream);
      }
    row_.clear();
    return error;
  }

 private:
  static constexpr std::size_t kWorth = 4;  // launches that are worth a graph
  static constexpr std::size_t kMostWaiting = 4096, kMostGraphs = 16;

  /// The graph of the row that waits, or null the first time: what comes once only is not worth one. The graphs that
  /// were used last stay.
  Graph* find() {
    const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                    [&](const Graph& graph) { return graph.row().has_shape_of(row_); });
    if (found != graphs_.end()) {
      graphs_.splice(graphs_.begin(), graphs_, found);
      return &graphs_.front();
    }
    graphs_.emplace_front(row_);
    if (graphs_.size() > kMostGraphs) graphs_.pop_back();
    return nullptr;
  }

  bool use_graphs_ = true;
  Row row_;
  std::list<Graph> graphs_;
};

}  // namespace lockstep::cuda
