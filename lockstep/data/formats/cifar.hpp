#pragma once
// The binary files of CIFAR-10 and CIFAR-100: records of one label byte (CIFAR-100: coarse and fine) and 3072 bytes of
// an image [3,32,32]. The data set is one file, or the folder that its archive unpacks to.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/samples.hpp"

namespace lockstep {

/// Records of 3073 bytes, or of 3074 (the fine label counts). Error(data) for another length or a label that is none.
Samples parse_cifar(std::span<const std::byte> bytes, std::string_view name);

struct Cifar {
  Samples train, test;                   // test may be empty
  std::vector<std::string> class_names;  // empty: the folder does not name them
};

/// A file ending in .bin, or a folder with data_batch_1.bin, ... and test_batch.bin, or train.bin and test.bin.
bool is_cifar(const std::filesystem::path& path);
Cifar read_cifar(const std::filesystem::path& path);

}  // namespace lockstep
