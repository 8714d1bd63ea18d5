#include "lockstep/core/shell_words.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

namespace lockstep {
namespace {

/// What a shell makes of the line: its words, a line each.
std::string words_of_shell(const std::string& line) {
  std::FILE* const pipe = ::popen(("printf '%s\\n' " + line).c_str(), "r");
  std::string text;
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

TEST(ShellWords, PlainWordsStayAsTheyAre) {
  const std::vector<std::string> words = {"train", "my.toml", "--set", "train.batch=64", "-o", "runs/a_1"};
  EXPECT_EQ(shell_words(words), "train my.toml --set train.batch=64 -o runs/a_1");
}

TEST(ShellWords, AShellReadsBackWhatWasMeant) {
  const std::vector<std::string> words = {"two words",          "it's", "$HOME", "a;b", "`id`", "", "*",
                                          "model.init=\"x y\"", "~"};
  std::string expected;
  for (const std::string& word : words) expected += word + "\n";
  EXPECT_EQ(words_of_shell(shell_words(words)), expected);
}

}  // namespace
}  // namespace lockstep
