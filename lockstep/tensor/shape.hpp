#pragma once
// The shape of one sample or one parameter: up to four extents, written [6,28,28].

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace lockstep {

enum class Precision { float32, float64 };

std::string to_string(Precision precision);

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  std::span<const std::int64_t> extents() const { return {extents_.data(), static_cast<std::size_t>(rank_)}; }
  /// The number of elements; 1 for rank 0.
  std::int64_t elements() const;
  std::string str() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

/// A sample as an image: rank 3 is [channels,height,width]; rank 1 is [features,1,1]; rank 2 is [1,height,width].
struct ImageShape {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t elements() const { return channels * height * width; }
  Shape shape() const { return {channels, height, width}; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

}  // namespace lockstep
