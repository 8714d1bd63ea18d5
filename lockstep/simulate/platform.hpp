#pragma once
// Clusters that do not exist, as SimGrid reads them. One rank per node.

#include <string>
#include <vector>

namespace lockstep {

enum class Topology { star, fat_tree, dragonfly };

/// "star", "fat-tree", "dragonfly": in the order of Topology.
const std::vector<std::string>& topology_names();

struct ClusterSpec {
  Topology topology = Topology::fat_tree;
  double bandwidth = 12.5e9;  // of every link, each way, in bytes per second
  double latency = 1e-6;      // of every link, in seconds
  std::vector<int> cores{};   // of machines whose cores ranks share (machine_model.hpp); empty: each node has its own
};

/// The node speed of every platform. Work is charged in seconds, so it means nothing else.
inline constexpr double kNodeFlops = 1e9;

/// The most nodes that a platform may have.
inline constexpr int kMostNodes = 16384;

/// The platform file. A topology has the smallest size that holds `nodes`; ranks take the first of them.
///   star       every node has a link to one switch without limits
///   fat-tree   leaf switches with 16 nodes each and 16 links up, two to each of 8 spines: full bisection
///   dragonfly  s groups of 4 chassis of s routers with 4 nodes each, s at least 2, two links of each kind
/// Machines are hosts without a link, "machine-0" and so on: ranks work there, whichever node they are on.
std::string platform_xml(const ClusterSpec& cluster, int nodes);

/// The host file: `nodes` names, one per line.
std::string host_file(int nodes);
/// The same with the node of every rank.
std::string host_file(const std::vector<int>& nodes);

/// Links on the longest way between two of the first `nodes` nodes: what a message's latency is made of.
int longest_route(Topology topology, int nodes);

}  // namespace lockstep
