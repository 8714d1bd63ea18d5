#include "lockstep/kernels/device/device.hpp"

#include "lockstep/kernels/context.hpp"

namespace lockstep {

namespace {
constexpr std::size_t kConstantsKept = 64;  // a training run has a handful: full batch, last batch, evaluation
}

const std::int64_t* Device::constant(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> key(values.begin(), values.end());
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  if (constants_.size() >= kConstantsKept) forget_constants();
  const auto bytes = static_cast<std::int64_t>(values.size_bytes());
  auto* const address = reinterpret_cast<std::int64_t*>(allocate(bytes));
  constants_.emplace(std::move(key), address);
  to_device(address, values.data(), bytes);
  return address;
}

void Device::forget_constants() noexcept {
  for (const auto& [values, address] : constants_) release(reinterpret_cast<std::byte*>(address));
  constants_.clear();
}

KernelContext::KernelContext(Device* device) : device_(device), memory_(device) {}

}  // namespace lockstep
