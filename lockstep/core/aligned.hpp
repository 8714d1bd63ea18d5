#pragma once
// A zero-initialised array that starts on a cache line (64 bytes: one AVX-512 register).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::int64_t size) : size_(size) {
    if (size_ == 0) return;
    const auto wanted = checked_product({size_, sizeof(T)});
    if (!wanted) throw Error(ExitCode::resources, "no memory can hold " + std::to_string(size_) + " elements");
    const std::size_t bytes = (static_cast<std::size_t>(*wanted) + kCacheLine - 1) / kCacheLine * kCacheLine;
    data_.reset(static_cast<T*>(std::aligned_alloc(kCacheLine, bytes)));
    if (!data_) throw Error(ExitCode::resources, "out of memory: " + std::to_string(bytes) + " bytes wanted");
    std::memset(static_cast<void*>(data_.get()), 0, bytes);
  }
  AlignedBuffer(const AlignedBuffer& other) : AlignedBuffer(other.size_) {
    if (size_ > 0) std::memcpy(data_.get(), other.data_.get(), static_cast<std::size_t>(size_) * sizeof(T));
  }
  AlignedBuffer& operator=(const AlignedBuffer& other) {
    AlignedBuffer copy(other);
    std::swap(data_, copy.data_);
    std::swap(size_, copy.size_);
    return *this;
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~AlignedBuffer() = default;

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::span<T> span() { return {data_.get(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_.get(), static_cast<std::size_t>(size_)}; }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace lockstep
