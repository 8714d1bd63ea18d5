#include "lockstep/nn/parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/core/sha256.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {
namespace {

Network small(Precision precision = Precision::float32) {
  return Network::from_sizes({3, 4, 2}, Tanh{}, std::nullopt, precision);
}

TEST(WeightHash, IsSha256OverTheBytes) {
  AlignedBuffer<float> values(2);
  values[0] = 1.0F;  // 00 00 80 3f, little-endian
  values[1] = -2.0F;
  // printf '\x00\x00\x80\x3f\x00\x00\x00\xc0' | sha256sum
  EXPECT_EQ(weight_hash(values), "ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b");
  EXPECT_EQ(weight_hash(AlignedBuffer<double>(0)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(WeightHash, SeesOneBitAndTheSignOfZero) {
  Network net = small();
  const std::string hash = weight_hash(net.values());
  net.data<float>()[5] = std::nextafter(net.data<float>()[5], 10.0F);
  EXPECT_NE(weight_hash(net.values()), hash);
  Network zero = small(), minus = small();
  zero.data<float>()[0] = 0.0F;
  minus.data<float>()[0] = -0.0F;
  EXPECT_NE(weight_hash(zero.values()), weight_hash(minus.values()));
}

TEST(WeightHash, DoesNotDependOnHowTheNetworkWasBuilt) {
  Network by_hand({3});
  by_hand.add(Linear{.out = 4});
  EXPECT_EQ(by_hand.data<float>()[0], by_hand.data<float>()[0]);  // drawn early, and again after the next layers
  by_hand.add(Tanh{}).add(Linear{.out = 2});
  EXPECT_EQ(weight_hash(by_hand.values()), weight_hash(small().values()));
  Network copy = small();
  copy.initialise(9);
  copy.initialise(1);
  EXPECT_EQ(weight_hash(copy.values()), weight_hash(small().values())) << "seed 1 unless told otherwise";
}

TEST(WeightHash, SeedsAndPrecisionsDiffer) {
  Network other = small();
  other.initialise(2);
  EXPECT_NE(weight_hash(other.values()), weight_hash(small().values()));
  EXPECT_NE(weight_hash(small(Precision::float64).values()), weight_hash(small().values()));
}

TEST(WeightHash, ShortHash) {
  const std::string hash = weight_hash(small().values());
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(short_hash(hash), hash.substr(0, 8));
}

TEST(Network, CopiesDoNotShareWeights) {
  const Network original = small();
  Network copy = original;
  copy.data<float>()[0] += 1;
  EXPECT_NE(weight_hash(copy.values()), weight_hash(original.values()));
}

}  // namespace
}  // namespace lockstep
