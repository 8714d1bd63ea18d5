#include "lockstep/data/formats/cifar.hpp"

#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

std::string record(const std::string& labels, char pixel) { return labels + std::string(3072, pixel); }

TEST(Cifar, ReadsRecordsOfBothKinds) {
  const Samples ten = parse_cifar(to_bytes(record("\3", 'a') + record("\7", 'b')), "a.bin");
  EXPECT_EQ(ten.features.describe(), "uint8 [2,3,32,32]");
  EXPECT_EQ(ten.targets.labels, (std::vector<std::int32_t>{3, 7}));
  EXPECT_EQ(ten.features.value(3071), 'a');
  EXPECT_EQ(ten.features.value(3072), 'b');
  const Samples hundred = parse_cifar(to_bytes(record("\1\x63", 'a')), "a.bin");
  EXPECT_EQ(hundred.targets.labels, (std::vector<std::int32_t>{99}));
  EXPECT_EQ(hundred.targets.classes, 100);
  expect_data_error("a.bin: 3072 bytes are no records of 3073 (CIFAR-10) or 3074 bytes (CIFAR-100)",
                    [] { parse_cifar(to_bytes(std::string(3072, 'a')), "a.bin"); });
  expect_data_error("a.bin: byte 0: label 97, but CIFAR-10 has classes 0 to 9",
                    [] { parse_cifar(to_bytes(std::string(3073, 'a')), "a.bin"); });
}

TEST(Cifar, ReadsTheFolder) {
  const TemporaryFolder folder;
  write_file(folder / "data_batch_1.bin", to_bytes(record("\1", 'a')));
  write_file(folder / "data_batch_2.bin", to_bytes(record("\2", 'b')));
  write_file(folder / "test_batch.bin", to_bytes(record("\5", 'c')));
  write_file(folder / "batches.meta.txt", to_bytes("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n"));
  EXPECT_TRUE(is_cifar(folder.path()));
  const Cifar cifar = read_cifar(folder.path());
  EXPECT_EQ(cifar.train.targets.labels, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(cifar.test.targets.labels, (std::vector<std::int32_t>{5}));
  EXPECT_EQ(cifar.class_names.size(), 10u);
}

}  // namespace
}  // namespace lockstep
