#include "lockstep/simulate/platform.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace lockstep {

namespace {

constexpr int kLeafNodes = 16, kSpines = 8, kCables = 2;
constexpr double kLoopback = 1e18;  // within a node nothing is in the way
constexpr int kChassis = 4, kRouterNodes = 4;

/// Groups, and routers of a chassis. SimGrid 3.32 crashes where there are clearly more groups than routers.
int dragonfly_size(int nodes) {
  int size = 2;
  while (size * size * kChassis * kRouterNodes < nodes) ++size;
  return size;
}

struct Wiring {
  int hosts;
  std::string attributes;
};

Wiring wiring_of(Topology topology, int nodes) {
  if (topology == Topology::fat_tree) {
    const int leaves = std::max(2, (nodes + kLeafNodes - 1) / kLeafNodes);
    return {leaves * kLeafNodes, fmt::format(R"( topology="FAT_TREE" topo_parameters="2;{},{};1,{};1,{}")", kLeafNodes,
                                             leaves, kSpines, kCables)};
  }
  if (topology == Topology::dragonfly) {
    const int size = dragonfly_size(nodes);
    return {size * size * kChassis * kRouterNodes,
            fmt::format(R"( topology="DRAGONFLY" topo_parameters="{},{};{},{};{},{};{}")", size, kCables, kChassis,
                        kCables, size, kCables, kRouterNodes)};
  }
  return {nodes, ""};
}

}  // namespace

const std::vector<std::string>& topology_names() {
  static const std::vector<std::string> names = {"star", "fat-tree", "dragonfly"};
  return names;
}

std::string platform_xml(const ClusterSpec& cluster, int nodes) {
  const Wiring wiring = wiring_of(cluster.topology, nodes);
  std::string loopback, machines;
  for (std::size_t i = 0; i < cluster.cores.size(); ++i)
    machines += fmt::format("<host id=\"machine-{}\" speed=\"{}f\" core=\"{}\"/>", i, kNodeFlops, cluster.cores[i]);
  if (!machines.empty()) {
    machines = "\n  <zone id=\"machines\" routing=\"None\">" + machines + "</zone>";
    loopback = fmt::format(" loopback_bw=\"{}Bps\" loopback_lat=\"0s\"", kLoopback);
  }
  return fmt::format(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-{}" speed="{}f" bw="{}Bps" lat="{}s" sharing_policy="SPLITDUPLEX"{}{}/>{}
 </zone>
</platform>
)",
                     wiring.hosts - 1, kNodeFlops, cluster.bandwidth, cluster.latency, loopback, wiring.attributes,
                     machines);
}

std::string host_file(const std::vector<int>& nodes) {
  std::string text;
  for (const int node : nodes) text += fmt::format("node-{}\n", node);
  return text;
}

std::string host_file(int nodes) {
  std::vector<int> list(static_cast<std::size_t>(nodes));
  std::iota(list.begin(), list.end(), 0);
  return host_file(list);
}

int longest_route(Topology topology, int nodes) {
  if (nodes < 2) return 0;
  if (topology == Topology::star) return 2;
  if (topology == Topology::fat_tree) return nodes <= kLeafNodes ? 2 : 4;
  // Node, router, other chassis, other group and the same again on the other side.
  const int size = dragonfly_size(nodes), group = size * kChassis * kRouterNodes;
  if (nodes <= kRouterNodes) return 2;
  if (nodes <= size * kRouterNodes) return 3;
  return nodes <= group ? 4 : 7;
}

}  // namespace lockstep
