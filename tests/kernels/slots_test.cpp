#include "lockstep/kernels/slots.hpp"

#include <bit>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

TEST(Slots, AutoIsThePowerOfTwoBelowASixteenth) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> table = {
      {1, 1},  {15, 1}, {16, 1},  {31, 1},    {32, 2},    {33, 2},     {47, 2},
      {63, 2}, {64, 4}, {128, 8}, {1023, 32}, {1024, 64}, {100000, 64}};
  for (const auto& [batch, slots] : table) EXPECT_EQ(auto_slots(batch), slots) << "batch " << batch;
}

TEST(Slots, CutCoversTheBatchOnceAndEvenly) {
  for (std::int64_t slots = 1; slots <= 128; slots *= 2)
    for (std::int64_t samples = 0; samples <= 600; ++samples) {
      const std::vector<std::int64_t> bounds = cut_into_slots(samples, slots);
      const Slots cut{bounds};
      ASSERT_EQ(cut.count(), slots);
      ASSERT_EQ(bounds.front(), 0);
      ASSERT_EQ(bounds.back(), samples);
      const std::int64_t unit =
          std::min<std::int64_t>(kLanes, std::bit_floor(std::uint64_t(std::max<std::int64_t>(samples / slots, 1))));
      std::int64_t smallest = samples, largest = 0;
      for (std::int64_t k = 0; k < slots; ++k) {
        ASSERT_EQ(cut.begin(k) % unit, 0) << samples << " samples, " << slots << " slots";
        smallest = std::min(smallest, cut.size(k));
        largest = std::max(largest, cut.size(k));
      }
      ASSERT_GE(smallest, samples >= slots ? 1 : 0) << samples << " samples, " << slots << " slots";
      ASSERT_LE(largest - smallest, 2 * unit - 1) << samples << " samples, " << slots << " slots";
    }
}

TEST(Slots, FewerSamplesThanSlotsLeaveSomeEmpty) {
  EXPECT_EQ(cut_into_slots(3, 4), (std::vector<std::int64_t>{0, 0, 1, 2, 3}));
  EXPECT_EQ(cut_into_slots(1, 4), (std::vector<std::int64_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ(cut_into_slots(0, 2), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Slots, CutByHand) {
  EXPECT_EQ(cut_into_slots(64, 4), (std::vector<std::int64_t>{0, 16, 32, 48, 64}));
  EXPECT_EQ(cut_into_slots(65, 4), (std::vector<std::int64_t>{0, 16, 32, 48, 65}));
  EXPECT_EQ(cut_into_slots(40, 4), (std::vector<std::int64_t>{0, 8, 16, 24, 40}));
  EXPECT_EQ(cut_into_slots(7, 2), (std::vector<std::int64_t>{0, 4, 7}));
}

/// A sum that writes itself down.
struct Term {
  std::string text;
  friend Term operator+(const Term& a, const Term& b) { return {"(" + a.text + "+" + b.text + ")"}; }
};

TEST(Slots, SlotTreeSpelledOut) {
  const auto leaf = [](std::int64_t slot) { return Term{std::to_string(slot)}; };
  EXPECT_EQ(slot_tree(leaf, 0, 1).text, "0");
  EXPECT_EQ(slot_tree(leaf, 0, 8).text, "(((0+1)+(2+3))+((4+5)+(6+7)))");
  EXPECT_EQ(slot_tree(leaf, 4, 4).text, "((4+5)+(6+7))") << "an aligned chunk is a node of the tree";
}

TEST(Slots, BlockTreeIsAlignedToTheLeft) {
  EXPECT_EQ(block_tree({}), 0);
  // Five leaves: ((0+1)+(2+3))+4. Only that order keeps both units: 2^60 and -2^60 meet first.
  const std::vector<double> five = {0x1p60, -0x1p60, 1, 0x1p-60, 1};
  EXPECT_EQ(block_tree(five), 2.0);
  const std::vector<double> three = {1, 0x1p60, -0x1p60};  // (0+1)+2 loses the unit
  EXPECT_EQ(block_tree(three), 0.0);
  // Four leaves are the tree over four slots.
  const auto four = random_vector<double>(4, 1);
  EXPECT_EQ(block_tree(four), (four[0] + four[1]) + (four[2] + four[3]));
}

TEST(Slots, LaneTreeSpelledOut) {
  Term lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l].text = std::string(1, static_cast<char>('a' + l));
  EXPECT_EQ(lane_tree(lanes).text, "((((a+i)+(e+m))+((c+k)+(g+o)))+(((b+j)+(f+n))+((d+l)+(h+p))))");
}

TEST(Slots, LaneTreeByHand) {
  // 1 is lost against 2^60 unless it first meets its neighbour eight lanes on.
  double lanes[kLanes] = {};
  lanes[0] = 0x1p60;
  lanes[8] = -0x1p60;
  lanes[4] = 1;
  EXPECT_EQ(lane_tree(lanes), 1.0);
  double others[kLanes] = {};
  others[0] = 0x1p60;
  others[4] = -0x1p60;
  others[8] = 1;
  EXPECT_EQ(lane_tree(others), 0.0);
}

}  // namespace
}  // namespace lockstep::test
