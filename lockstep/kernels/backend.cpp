#include "lockstep/kernels/backend.hpp"

#include "lockstep/kernels/naive/table.hpp"

namespace lockstep {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = {"naive", "naive-o0"};
  return names;
}

template <class T>
KernelTable<T> make_table(Backend backend) {
  return backend == Backend::naive_o0 ? make_naive_o0_table<T>() : make_naive_table<T>();
}

template KernelTable<float> make_table<float>(Backend);
template KernelTable<double> make_table<double>(Backend);

}  // namespace lockstep
