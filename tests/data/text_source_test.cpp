#include "lockstep/data/text_source.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep::test {
namespace {

std::string fault(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Text, Utf8IsParsedStrictly) {
  EXPECT_EQ(parse_utf8("aé€😀", "t"), (std::vector<char32_t>{'a', 0xE9, 0x20AC, 0x1F600}));
  EXPECT_TRUE(parse_utf8("", "t").empty());
  const char* const wrong[] = {
      "a\x80",    "a\xC3", "a\xC0\xAF", "a\xE0\x80\xAF", "a\xED\xA0\x80", "a\xF4\x90\x80\x80", "a\xF5\x80\x80\x80",
      "a\xE2\x82"};
  for (const char* text : wrong)
    EXPECT_EQ(fault([&] { parse_utf8(text, "t"); }),
              "t: byte 1: the text is not UTF-8; convert it, or set data.vocabulary = \"bytes\"");
}

TEST(Text, VocabularyOfCharacters) {
  const Vocabulary vocabulary("bäba\n", "t");
  EXPECT_EQ(vocabulary.size(), 4);
  EXPECT_EQ(vocabulary.characters(), "\nabä");
  EXPECT_EQ(vocabulary.tokens("äb", "t"), (std::vector<std::int32_t>{3, 2}));
  EXPECT_EQ(vocabulary.text(3), "ä");
  EXPECT_EQ(fault([&] { vocabulary.tokens("äbc", "prompt"); }),
            "prompt: byte 3: the character \"c\" (U+0063) is not among the 4 of the vocabulary");
  EXPECT_EQ(fault([&] { vocabulary.tokens("a\t", "prompt"); }),
            "prompt: byte 1: the character U+0009 is not among the 4 of the vocabulary");
  EXPECT_EQ(fault([] { Vocabulary("", "t"); }), "t: the text is empty");
}

TEST(Text, VocabularyOfBytes) {
  const Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.size(), 256);
  EXPECT_EQ(vocabulary.tokens("a\xFF", "t"), (std::vector<std::int32_t>{97, 255}));
  EXPECT_EQ(vocabulary.text(255), "\xFF");
}

TEST(Text, WindowsWithTheTokensThatFollow) {
  const std::vector<std::int32_t> tokens = {0, 1, 2, 3, 4, 5, 6, 7};
  const Samples samples = cut_into_windows(tokens, 3, 300, "t");
  const auto x = samples.features.as<std::int32_t>(), y = samples.targets.values.as<std::int32_t>();
  EXPECT_EQ((std::vector<std::int32_t>(x.begin(), x.end())), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((std::vector<std::int32_t>(y.begin(), y.end())), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples.targets.step_classes, 300);
  EXPECT_EQ(cut_into_windows(tokens, 3, 8, "t").features.type, ElementType::uint8);
  EXPECT_EQ(fault([&] { cut_into_windows(tokens, 8, 8, "t"); }),
            "t: 8 tokens are too few for a window of 8 and the one behind it; lower data.steps");
}

TEST(Text, FilesOfAFolderInTheOrderOfTheirNames) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "b.txt") << "cd";
  std::ofstream(folder.path() / "a.txt") << "ab";
  std::ofstream(folder.path() / "c.md") << "zz";
  DataConfig config;
  config.source = folder.path().string();
  config.vocabulary = "characters";
  config.steps = 3;
  const DataSplits data = load_data(config);
  EXPECT_EQ(data.characters, "abcd");
  EXPECT_EQ(data.train->size(), 1);
  EXPECT_EQ(data.train->step_classes(), 4);
  std::filesystem::remove(folder.path() / "a.txt");
  std::filesystem::remove(folder.path() / "b.txt");
  EXPECT_NE(fault([&] { load_data(config); }).find("the folder has no .txt files"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::test
