#include "lockstep/simulate/platform.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::string xml(Topology topology, int nodes) {
  return platform_xml({.topology = topology, .bandwidth = 12.5e9, .latency = 1.5e-6}, nodes);
}

TEST(Platform, StarHasAsManyHostsAsNodes) {
  const std::string text = xml(Topology::star, 5);
  EXPECT_NE(text.find("radical=\"0-4\""), std::string::npos) << text;
  EXPECT_NE(text.find("bw=\"12500000000Bps\" lat=\"1.5e-06s\""), std::string::npos) << text;
  EXPECT_EQ(text.find("topology"), std::string::npos) << text;
}

TEST(Platform, FatTreeHasWholeLeaves) {
  EXPECT_NE(xml(Topology::fat_tree, 40).find("radical=\"0-47\""), std::string::npos);
  EXPECT_NE(xml(Topology::fat_tree, 40).find("2;16,3;1,8;1,2"), std::string::npos);
  EXPECT_NE(xml(Topology::fat_tree, 1024).find("2;16,64;1,8;1,2"), std::string::npos);
}

TEST(Platform, DragonflyHasNoMoreGroupsThanRouters) {
  // SimGrid crashes otherwise.
  EXPECT_NE(xml(Topology::dragonfly, 64).find("2,2;4,2;2,2;4"), std::string::npos) << xml(Topology::dragonfly, 64);
  EXPECT_NE(xml(Topology::dragonfly, 65).find("3,2;4,2;3,2;4"), std::string::npos);
  EXPECT_NE(xml(Topology::dragonfly, 1024).find("8,2;4,2;8,2;4"), std::string::npos);
  EXPECT_NE(xml(Topology::dragonfly, 1024).find("radical=\"0-1023\""), std::string::npos);
}

TEST(Platform, HostFileNamesTheRanks) {
  EXPECT_EQ(host_file(3), "node-0\nnode-1\nnode-2\n");
  EXPECT_EQ(host_file({0, 0, 1}), "node-0\nnode-0\nnode-1\n");
}

TEST(Platform, MachinesAreHostsWithCores) {
  const std::string text = platform_xml({.topology = Topology::star, .cores = {2, 8}}, 4);
  EXPECT_NE(text.find("<host id=\"machine-0\" speed=\"1000000000f\" core=\"2\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("<host id=\"machine-1\" speed=\"1000000000f\" core=\"8\"/>"), std::string::npos) << text;
  EXPECT_EQ(xml(Topology::star, 4).find("machine"), std::string::npos);
}

TEST(Platform, RoutesGrowWithTheCluster) {
  for (const Topology topology : {Topology::star, Topology::fat_tree, Topology::dragonfly}) {
    EXPECT_EQ(longest_route(topology, 1), 0);
    EXPECT_EQ(longest_route(topology, 2), 2);
    int before = 0;
    for (int nodes = 1; nodes <= 1024; nodes *= 2) {
      EXPECT_GE(longest_route(topology, nodes), before);
      before = longest_route(topology, nodes);
    }
  }
  EXPECT_EQ(longest_route(Topology::fat_tree, 17), 4);
}

}  // namespace
}  // namespace lockstep
