#include "lockstep/kernels/device/table.hpp"

#include "lockstep/kernels/device/missing.hpp"

namespace lockstep {

template <class T>
KernelTable<T> make_device_table(std::string_view name) {
  return make_missing_table<T>(name);
}

template <class T>
KernelTable<T> make_naive_device_table(std::string_view name) {
  return make_missing_table<T>(name);
}

template KernelTable<float> make_device_table<float>(std::string_view);
template KernelTable<double> make_device_table<double>(std::string_view);
template KernelTable<float> make_naive_device_table<float>(std::string_view);
template KernelTable<double> make_naive_device_table<double>(std::string_view);

}  // namespace lockstep
