#include "lockstep/kernels/device/table.hpp"

#include "lockstep/kernels/device/launch.hpp"
#include "lockstep/kernels/device/missing.hpp"

namespace lockstep {

namespace {

template <class T, device::Style kStyle>
KernelTable<T> common_table(std::string_view name) {
  KernelTable<T> table = make_missing_table<T>(name);
  device::add_elementwise<T, kStyle>(table);
  device::add_optimizers<T, kStyle>(table);
  device::add_losses<T, kStyle>(table);
  device::add_pooling<T, kStyle>(table);
  device::add_batch_norm<T, kStyle>(table);
  device::add_naive_linear(table);
  device::add_naive_conv2d(table);
  return table;
}

}  // namespace

template <class T>
KernelTable<T> make_device_table(std::string_view name) {
  KernelTable<T> table = common_table<T, device::Style::tuned>(name);
  device::add_tuned_linear(table);
  device::add_tuned_conv2d(table);
  return table;
}

template <class T>
KernelTable<T> make_naive_device_table(std::string_view name) {
  return common_table<T, device::Style::naive>(name);
}

template KernelTable<float> make_device_table<float>(std::string_view);
template KernelTable<double> make_device_table<double>(std::string_view);
template KernelTable<float> make_naive_device_table<float>(std::string_view);
template KernelTable<double> make_naive_device_table<double>(std::string_view);

}  // namespace lockstep
