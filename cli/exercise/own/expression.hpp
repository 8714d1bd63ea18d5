#pragma once
// A formula of the sizes of an own exercise: "n", "2 * rows * cols", "(h - kh) / stride + 1". Whole numbers, names,
// + - * / and parentheses; a division rounds down.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

class Expression {
 public:
  /// Error(usage) where the text is no formula, or has a name that is not one of `names`.
  Expression(std::string_view text, const std::vector<std::string>& names);

  /// `values`: of the names, in their order. Error(usage) for a division by 0, or a result beyond 2^62.
  double of(const std::vector<std::int64_t>& values) const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind { number, name, add, subtract, multiply, divide };
  struct Step {  // in the order of a calculator with a stack
    Kind kind = Kind::number;
    double number = 0;
    std::size_t name = 0;
  };
  class Parser;

  std::string text_;
  std::vector<Step> steps_{};
};

}  // namespace lockstep::cli
