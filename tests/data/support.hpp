#pragma once
// What the tests of the file readers share.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

using Bytes = std::vector<std::byte>;

/// Runs `action`, which must throw Error(code) with a message of one line that begins with `begin`.
inline void expect_error(ErrorCode code, std::string_view begin, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
    EXPECT_EQ(message.substr(0, begin.size()), begin) << "whole message: " << message;
    EXPECT_EQ(message.find('\n'), std::string_view::npos) << "more than one line: " << message;
    return;
  }
  ADD_FAILURE() << "nothing was thrown, expected: " << begin;
}

inline void expect_data_error(std::string_view begin, const std::function<void()>& action) {
  expect_error(ErrorCode::data, begin, action);
}

/// Where the place in the file depends on the compressor: the message must hold `part` and name a byte.
inline void expect_data_error_with(std::string_view part, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::data)) << message;
    EXPECT_NE(message.find(": byte "), std::string_view::npos) << message;
    EXPECT_NE(message.find(part), std::string_view::npos) << message;
    return;
  }
  ADD_FAILURE() << "nothing was thrown, expected: " << part;
}

inline Bytes to_bytes(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

inline Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

inline Bytes shortened(const Bytes& bytes, std::size_t by) {
  return {bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(by)};
}

inline Bytes with_byte(Bytes bytes, std::size_t at, int value) {
  bytes.at(at) = static_cast<std::byte>(value);
  return bytes;
}

inline void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good()) << path;
}

inline std::vector<std::int64_t> ids_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

/// All features of the given samples, sample after sample.
template <class T>
std::vector<T> gathered(const Dataset& data, std::span<const std::int64_t> ids) {
  const std::int64_t features = data.features(), count = static_cast<std::int64_t>(ids.size());
  std::vector<T> x(static_cast<std::size_t>(features * count)), out;
  data.gather(ids, dense_matrix(x.data(), features, count));
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t f = 0; f < features; ++f) out.push_back(x[static_cast<std::size_t>(f * count + j)]);
  }
  return out;
}

inline std::vector<std::int32_t> all_labels(const Dataset& data) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.size()));
  data.labels(ids_from(0, data.size()), labels);
  return labels;
}

}  // namespace lockstep
