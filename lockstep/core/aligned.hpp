#pragma once
// Where an array lives (Memory: the host, or a device whose addresses look like others), and a zero-initialised array
// there that starts on a cache line (64 bytes: one AVX-512 register).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

/// A device address may be stored, compared and offset like any T*, but only that device's kernels and copies may
/// follow it.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Zeros, aligned to a cache line at least. Throws Error(resources) where there is not that much.
  virtual std::byte* allocate(std::int64_t bytes) = 0;
  virtual void release(std::byte* address) noexcept = 0;
  /// From one place of this memory to another of it; the two do not overlap.
  virtual void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
};

Memory& host_memory();

inline constexpr std::size_t kCacheLine = 64;

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// `memory` outlives the array.
  explicit AlignedBuffer(std::int64_t size, Memory& memory = host_memory()) : size_(size) {
    if (size_ == 0) return;
    const auto bytes = checked_product({size_, sizeof(T)});
    if (!bytes) throw Error(ErrorCode::resources, "no memory can hold " + std::to_string(size_) + " elements");
    data_ = Owner(reinterpret_cast<T*>(memory.allocate(*bytes)), Release{&memory});
  }
  AlignedBuffer(const AlignedBuffer& other) : AlignedBuffer(other.size_, other.memory()) {
    if (size_ > 0)
      memory().copy_within(reinterpret_cast<std::byte*>(data_.get()), reinterpret_cast<const std::byte*>(other.data()),
                           size_ * static_cast<std::int64_t>(sizeof(T)));
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

  Memory& memory() const {
    Memory* const where = data_.get_deleter().memory;
    return where == nullptr ? host_memory() : *where;
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::span<T> span() { return {data_.get(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_.get(), static_cast<std::size_t>(size_)}; }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Release {
    Memory* memory = nullptr;
    void operator()(T* p) const { memory->release(reinterpret_cast<std::byte*>(p)); }
  };
  using Owner = std::unique_ptr<T[], Release>;
  Owner data_;
  std::int64_t size_ = 0;
};

}  // namespace lockstep
