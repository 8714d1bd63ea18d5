#pragma once
// The host side of every operation on a device, declared from the list of operations; each is defined in the source of
// its operation. An operation without a definition does not link: a device never falls back to kernels of the host.

#include "lockstep/kernels/table.hpp"

namespace lockstep::device {

/// The two ways to run the same text: as a first course writes it, or as suits the device.
enum class Style { naive, tuned };

#define LOCKSTEP_DEVICE_DECLARE(operation, Args) \
  template <class T, Style kStyle>               \
  void operation(const Args<T>&, KernelContext&);
LOCKSTEP_OPERATIONS(LOCKSTEP_DEVICE_DECLARE)
#undef LOCKSTEP_DEVICE_DECLARE

}  // namespace lockstep::device

// NOLINTBEGIN(bugprone-macro-parentheses): the name of a template takes none
#define LOCKSTEP_DEVICE_INSTANTIATE(operation, Args)                                  \
  template void operation<float, Style::naive>(const Args<float>&, KernelContext&);   \
  template void operation<float, Style::tuned>(const Args<float>&, KernelContext&);   \
  template void operation<double, Style::naive>(const Args<double>&, KernelContext&); \
  template void operation<double, Style::tuned>(const Args<double>&, KernelContext&);
// NOLINTEND(bugprone-macro-parentheses)
