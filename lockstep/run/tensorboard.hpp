#pragma once
// Event files that TensorBoard reads: scalars of every epoch, histograms of the weights, the filters of a first
// convolution as a picture, and the layers as a graph. Records are framed, and protocol buffers written, by hand: the
// format is a few bytes. Times are those of the clock, so an event file is not part of the promise.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "lockstep/nn/network.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// CRC-32C (Castagnoli) of the bytes.
std::uint32_t crc32c(std::string_view bytes);
/// A record of an event file: length, its checksum, the bytes, their checksum.
std::string framed_record(std::string_view bytes);

class EventFile {
 public:
  /// A new file in the directory, with the graph of the network. Error(resources) when it cannot be written.
  EventFile(const std::filesystem::path& directory, const Network& network);

  /// Losses, accuracies, metrics, the learning rate, and the weights after an epoch; the step is the epoch.
  void add(const EpochReport& report, const Network& network);
  /// The scores of the final weights on `part`.
  void add(const char* part, const Scores& scores, std::int64_t epoch);
  const std::filesystem::path& path() const { return path_; }

 private:
  void append(const std::string& event) const;

  std::filesystem::path path_;
};

}  // namespace lockstep
