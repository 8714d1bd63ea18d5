#include "lockstep/core/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

using Kind = EnvironmentVariable::Kind;

/// A variable with another value for as long as this lives.
class Changed {
 public:
  Changed(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Changed() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string refusal(const EnvironmentVariable& variable, const std::string& value) {
  const Changed changed(variable.name, value);
  try {
    check_environment();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

TEST(Environment, GarbageIsRefusedByName) {
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (variable.kind == Kind::text) continue;
    for (const char* value :
         {"garbage", "-1", "1x", "x1", "1 x", "nan", "inf", "-", ",", "1,,2", "99999999999999999999"}) {
      const std::string text = refusal(variable, value);
      EXPECT_NE(text.find(fmt::format("{}={}", variable.name, value)), std::string::npos) << variable.name << value;
      EXPECT_NE(text.find(variable.allowed()), std::string::npos) << text;
      EXPECT_NE(text.find(fmt::format("{}={}", variable.name, variable.example)), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(Environment, NumbersOutsideTheirRangeAreRefused) {
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (variable.kind != Kind::integer && variable.kind != Kind::integers && variable.kind != Kind::seconds) continue;
    EXPECT_NE(refusal(variable, fmt::format("{:.0f}", variable.least - 1)), "") << variable.name;
    EXPECT_NE(refusal(variable, fmt::format("{:.0f}", variable.most + 1)), "") << variable.name;
    EXPECT_EQ(refusal(variable, fmt::format("{:.0f}", variable.most)), "") << variable.name;
  }
}

TEST(Environment, ExamplesAndNothingAreTaken) {
  for (const EnvironmentVariable& variable : environment_variables())
    for (const char* value : {variable.example, ""}) EXPECT_EQ(refusal(variable, value), "") << variable.name;
}

TEST(Environment, ValuesAreWhatTheySay) {
  const Changed threads("OMP_NUM_THREADS", "4, 2"), seconds("LOCKSTEP_PEER_TIMEOUT", "2.5"),
      log("LOCKSTEP_OPENCL_LOG", "0"), nothing("LOCKSTEP_MPI_CUDA", "");
  EXPECT_EQ(environment_integer("OMP_NUM_THREADS"), 4);
  EXPECT_EQ(environment_number("LOCKSTEP_PEER_TIMEOUT"), 2.5);
  EXPECT_FALSE(environment_flag("LOCKSTEP_OPENCL_LOG", true));
  EXPECT_TRUE(environment_flag("LOCKSTEP_MPI_CUDA", true));
  EXPECT_EQ(environment_text("LOCKSTEP_MPI_CUDA"), std::nullopt);
}

TEST(Environment, ALongValueIsCutInTheMessage) {
  const Changed changed("OMP_NUM_THREADS", std::string(100000, '9'));
  try {
    check_environment();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 300U);
  }
}

TEST(Environment, WhatIsNotInTheListCannotBeRead) {
  EXPECT_THROW(static_cast<void>(environment_text("LOCKSTEP_OPENCL_ANY")), Error);
}

TEST(Environment, TheDocumentationHasTheSameList) {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/environment.md");
  ASSERT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  std::size_t rows = 0;
  for (const EnvironmentVariable& each : environment_variables()) {
    const std::string allowed = each.allowed().empty() ? "any text" : each.allowed();
    const std::string row = fmt::format("| `{}` | {} | `{}` | {} |", each.name, allowed, each.example, each.help);
    EXPECT_NE(text.str().find(row), std::string::npos) << "docs/environment.md lacks\n" << row;
    ++rows;
  }
  std::size_t found = 0;
  for (std::string line; std::getline(text, line);) found += line.starts_with("| `") ? 1 : 0;
  EXPECT_EQ(found, rows);
}

}  // namespace
}  // namespace lockstep
