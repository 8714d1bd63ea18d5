#pragma once
// A zip archive of a few files, as autograders are uploaded.

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::cli {

class ZipArchive {
 public:
  /// Deflated where that is smaller. Error(resources) for more than 4 GiB, which this old form cannot hold.
  void add(const std::string& name, std::string_view content, bool executable = false);
  /// The whole archive.
  std::string finish() &&;

 private:
  std::string body_{}, directory_{};
  std::uint16_t files_ = 0;
};

}  // namespace lockstep::cli
