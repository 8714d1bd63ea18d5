#include "lockstep/lab/results.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>

#include "lockstep/core/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

Result example() {
  Result result{.kind = "ladder", .name = "simd, 2 threads", .samples = {1.5, 1.25, 1.75, 0.1, 0.3, 0.2, 1e-9}};
  result.baseline = "naive";
  result.configuration = "[train]\nseed = 1\n";
  result.seed = 18446744073709551615ULL;
  result.kernels = {"simd.avx2"};
  result.weight_hash = "ab12";
  result.warnings = {"load 3.1"};
  result.numbers = {{"threads", 2}, {"third", 1.0 / 3}};
  result.words = {{"mark", "same"}, {"hostile", "</script>\n\x01\""}};
  result.series = {{"loss", {2.3, 0.5}}};
  result.origin = measured_here();
  return result;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& line, const std::string& reason) {
  try {
    result_from_json(line, "r.jsonl:7");
    FAIL() << "accepted: " << line.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_TRUE(std::string(error.what()).starts_with("r.jsonl:7: ")) << error.what();
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(Results, RoundTrip) {
  const Result before = example();
  const std::string line = to_json_line(before);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result after = result_from_json(line, "");
  EXPECT_EQ(after.samples, before.samples);
  EXPECT_EQ(after.numbers, before.numbers);
  EXPECT_EQ(after.words, before.words);
  EXPECT_EQ(after.series, before.series);
  EXPECT_EQ(after.seed, before.seed);
  EXPECT_EQ(after.origin.machine.processor, before.origin.machine.processor);
  EXPECT_EQ(after.origin.versions, before.origin.versions);
  EXPECT_EQ(to_json_line(after), line);
}

/// As version 0.1 wrote it.
TEST(Results, LinesOfOlderVersionsAreWrittenAsTheyWere) {
  const std::string line =
      R"({"format":"lockstep-result-1","kind":"curve","name":"a","unit":"s","samples":[1.0,2.0],"n":2,"median":1.5,)"
      R"("baseline":"b","seed":null,"kernels":["simd.avx2"],"weight_hash":"","warnings":[],"numbers":{"threads":2.0},)"
      R"("words":{"mark":"same"},"series":{"loss":[1.0]},"configuration":"[train]","origin":{"machine":{"processor":"p",)"
      R"("processors":2,"cores":1,"caches":[{"level":1,"type":"Data","bytes":32768,"shared_by":2}],)"
      R"("instruction_sets":["avx2"],"load":0.5},"versions":{"lockstep":"0.1"},"commit":"c","command":"d",)"
      R"("time":"2026-01-01T00:00:00Z"}})";
  EXPECT_EQ(to_json_line(result_from_json(line, "")), line);
}

TEST(Results, TheWriterRefusesWhatIsNotANumber) {
  Result result = example();
  result.numbers["x"] = std::nan("");
  EXPECT_THROW(to_json_line(result), Error);
  result = example();
  result.samples.push_back(std::numeric_limits<double>::infinity());
  EXPECT_THROW(to_json_line(result), Error);
  result = example();
  result.kind = "guess";
  EXPECT_THROW(to_json_line(result), Error);
}

TEST(Results, TheReaderIsStrict) {
  const std::string good = to_json_line(example());
  expect_refused("", "is not JSON");
  expect_refused("[]", "must be an object");
  expect_refused(good.substr(0, good.size() - 1), "is not JSON");
  expect_refused(good + good, "is not JSON");
  expect_refused(replaced(good, "lockstep-result-1", "lockstep-result-2"), "format");
  expect_refused(replaced(good, "\"ladder\"", "\"guess\""), "kind \"guess\" is unknown");
  expect_refused(replaced(good, "\"unit\":\"s\",", ""), "unit is missing");
  expect_refused(replaced(good, "\"unit\":\"s\"", "\"unit\":3"), "unit must be text");
  expect_refused(replaced(good, "\"unit\":\"s\"", "\"unit\":\"s\",\"unit\":\"s\""), "stands there twice");
  expect_refused(replaced(good, "\"unit\":\"s\"", "\"unit\":\"s\",\"extra\":1"), "\"extra\" is not a key");
  expect_refused(replaced(good, "\"median\":0.3", "\"median\":0.2"), "median does not follow from the samples");
  expect_refused(replaced(good, "1.75", "1e999"), "");
  expect_refused(replaced(good, "1.75", "\"1.75\""), "samples must be a number");
  expect_refused(replaced(good, "\"seed\":18446744073709551615", "\"seed\":-1"), "seed");
  expect_refused(replaced(good, "\"threads\":2.0", "\"threads\":null"), "numbers must be a number");
  expect_refused(replaced(good, "\"mark\":\"same\"", "\"mark\":[[[[[[[[[]]]]]]]]]"), "nested too deeply");
  expect_refused(replaced(good, "naive", "na\xff\xfeive"), "is not JSON");
}

TEST(Results, FewSamplesHaveNoInterval) {
  Result result = example();
  const std::string enough = to_json_line(result);
  EXPECT_NE(enough.find("\"n\":7,"), std::string::npos);
  expect_refused(replaced(enough, "\"n\":7,", "\"n\":8,"), "n does not follow from the samples");
  EXPECT_NO_THROW(result_from_json(replaced(enough, "\"n\":7,", ""), "")) << "an older version's";
  result.samples = {0.5, 0.25};
  const std::string few = to_json_line(result);
  for (const char* key : {"\"low\"", "\"high\"", "\"coverage\""}) EXPECT_EQ(few.find(key), std::string::npos) << key;
  EXPECT_NE(few.find("\"n\":2,"), std::string::npos);
  EXPECT_FALSE(result_from_json(few, "").summary()->interval);
  const std::string older = replaced(few, "\"n\":2,", "\"low\":0.25,\"high\":0.5,\"coverage\":0.5,");
  EXPECT_EQ(result_from_json(older, "").samples, result.samples);
}

TEST(Results, AppendsAndReads) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "results.jsonl";
  Result result = example();
  append_result(file, result);
  result.name = "second";
  result.samples.clear();
  append_result(file, result);
  const std::vector<Result> read = read_results(file);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].name, "second");
  EXPECT_FALSE(read[1].summary());
  EXPECT_EQ(read[0].summary()->median, 0.3);
  EXPECT_EQ(read[1].where.text, file.string() + ":2");
  std::ofstream(file, std::ios::app) << "{";
  EXPECT_THROW(read_results(file), Error);
  EXPECT_THROW(read_results(folder.path() / "absent.jsonl"), Error);
  EXPECT_THROW(append_result(folder.path() / "no" / "such" / "folder", result), Error);
}

TEST(Results, AFullDiskLeavesWhatWasThere) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "results.jsonl", fresh = folder.path() / "fresh.jsonl";
  append_result(file, example());
  const std::size_t length = std::filesystem::file_size(file);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, length - 1}) {
    rlimit small = before;
    small.rlim_cur = length + room;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(append_result(file, example()), Error);
    small.rlim_cur = room;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(append_result(fresh, example()), Error);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(read_results(file).size(), 1U) << room;
    EXPECT_FALSE(std::filesystem::exists(fresh)) << room;
  }
  std::signal(SIGXFSZ, handler);
}

TEST(Results, TheLargestNumbersComeBack) {
  Result result = example();
  result.samples = {1.7e308, 1.7e308};
  EXPECT_EQ(result_from_json(to_json_line(result), "").summary()->median, 1.7e308);
}

}  // namespace
}  // namespace lockstep
