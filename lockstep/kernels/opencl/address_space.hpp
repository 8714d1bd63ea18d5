#pragma once
// OpenCL 1.2 knows buffers, not addresses. This gives every buffer a range of the process's addresses that nobody can
// read: it can be offset like any pointer, translates back to (buffer, offset), and a host that follows it stops at
// once.

#include <cstddef>
#include <cstdint>
#include <map>

#include "lockstep/kernels/opencl/api.hpp"

namespace lockstep::opencl {

class AddressSpace {
 public:
  struct Place {
    cl_mem buffer;
    std::size_t offset;  // bytes
  };

  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  /// Takes over the buffer.
  std::byte* add(cl_mem buffer, std::int64_t bytes);
  /// Releases the buffer behind `address`, which `add` returned.
  void remove(std::byte* address) noexcept;
  /// Throws Error(bug) for an address that is not of this device.
  Place find(std::uint64_t address) const;

 private:
  struct Range {
    std::size_t bytes, mapped;
    cl_mem buffer;
  };
  std::map<std::uint64_t, Range> ranges_;  // by first address
};

}  // namespace lockstep::opencl
