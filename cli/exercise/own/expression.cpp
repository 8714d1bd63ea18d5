#include "cli/exercise/own/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

constexpr int kMostDepth = 32;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

class Expression::Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names, std::vector<Step>& steps)
      : text_(text), names_(names), steps_(steps) {}

  void run() {
    sum(0);
    if (!rest().empty()) fail(fmt::format("unexpected `{}`", one_line(rest())));
  }

 private:
  void sum(int depth) {
    product(depth);
    for (char c; (c = next("+-")) != 0;) {
      product(depth);
      steps_.push_back({c == '+' ? Kind::add : Kind::subtract});
    }
  }
  void product(int depth) {
    factor(depth);
    for (char c; (c = next("*/")) != 0;) {
      factor(depth);
      steps_.push_back({c == '*' ? Kind::multiply : Kind::divide});
    }
  }
  void factor(int depth) {
    if (depth > kMostDepth) fail("too many parentheses");
    if (next("(") != 0) {
      sum(depth + 1);
      if (next(")") == 0) fail("a parenthesis is not closed");
      return;
    }
    const std::string_view left = rest();
    const auto word = [&](const auto& belongs) {
      const std::size_t count =
          static_cast<std::size_t>(std::find_if_not(left.begin(), left.end(), belongs) - left.begin());
      at_ += count;
      return std::string(left.substr(0, count));
    };
    if (!left.empty() && is_digit(left[0])) {
      const std::string digits = word(is_digit);
      if (digits.size() > 15) fail("a number of more than 15 digits");
      return steps_.push_back({Kind::number, double(*parse_number<std::int64_t>(digits))});
    }
    if (left.empty() || !begins_name(left[0])) fail("a size, a number or ( is missing");
    const std::string name = word([](char c) { return begins_name(c) || is_digit(c); });
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) fail(fmt::format("{} is no size; sizes are {}", name, fmt::join(names_, ", ")));
    steps_.push_back({Kind::name, 0, static_cast<std::size_t>(found - names_.begin())});
  }

  std::string_view rest() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }
  /// The next character where it is one of these, which it passes; else 0.
  char next(std::string_view wanted) {
    const std::string_view left = rest();
    if (left.empty() || wanted.find(left[0]) == std::string_view::npos) return 0;
    ++at_;
    return left[0];
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::usage, fmt::format("`{}`: {}", one_line(text_), why));
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::vector<Step>& steps_;
  std::size_t at_ = 0;
};

Expression::Expression(std::string_view text, const std::vector<std::string>& names) : text_(text) {
  Parser(text, names, steps_).run();
}

double Expression::of(const std::vector<std::int64_t>& values) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::number || step.kind == Kind::name) {
      stack.push_back(step.kind == Kind::number ? step.number : double(values.at(step.name)));
      continue;
    }
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    if (step.kind == Kind::add) left += right;
    if (step.kind == Kind::subtract) left -= right;
    if (step.kind == Kind::multiply) left *= right;
    if (step.kind != Kind::divide) continue;
    if (right == 0)
      throw Error(ErrorCode::usage,
                  fmt::format("`{}` divides by 0 for the sizes {}", one_line(text_), fmt::join(values, ", ")));
    left = std::floor(left / right);
  }
  if (std::abs(stack.back()) > 0x1p62)
    throw Error(ErrorCode::usage,
                fmt::format("`{}` is beyond 2^62 for the sizes {}", one_line(text_), fmt::join(values, ", ")));
  return stack.back();
}

}  // namespace lockstep::cli
