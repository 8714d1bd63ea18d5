#pragma once
// The confusion matrix of a classifier: rows are the true classes, columns the answers.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output/json.hpp"

namespace lockstep::cli {

class Confusion {
 public:
  explicit Confusion(std::int64_t classes)
      : classes_(classes), counts_(static_cast<std::size_t>(classes * classes), 0) {}

  void add(std::int64_t truth, std::int64_t answer) { ++counts_[static_cast<std::size_t>(truth * classes_ + answer)]; }
  std::int64_t count(std::int64_t truth, std::int64_t answer) const {
    return counts_[static_cast<std::size_t>(truth * classes_ + answer)];
  }

  /// A table with the share found of each class (recall) in its last column.
  std::string text(const std::vector<std::string>& names) const;
  /// [[true 0 answered 0, true 0 answered 1, ...], ...]
  Json json() const;

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace lockstep::cli
