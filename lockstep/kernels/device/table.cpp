#include "lockstep/kernels/device/table.hpp"

#include "lockstep/kernels/device/launch.hpp"

namespace lockstep {

namespace {

template <class T, device::Style kStyle>
KernelTable<T> table_of(std::string_view name) {
#define LOCKSTEP_DEVICE_KERNEL(operation, Args) .operation = {name, &device::operation<T, kStyle>},
  return {.backend = name, LOCKSTEP_OPERATIONS(LOCKSTEP_DEVICE_KERNEL)};
#undef LOCKSTEP_DEVICE_KERNEL
}

}  // namespace

template <class T>
KernelTable<T> make_device_table(std::string_view name) {
  return table_of<T, device::Style::tuned>(name);
}

template <class T>
KernelTable<T> make_naive_device_table(std::string_view name) {
  return table_of<T, device::Style::naive>(name);
}

template KernelTable<float> make_device_table<float>(std::string_view);
template KernelTable<double> make_device_table<double>(std::string_view);
template KernelTable<float> make_naive_device_table<float>(std::string_view);
template KernelTable<double> make_naive_device_table<double>(std::string_view);

}  // namespace lockstep
