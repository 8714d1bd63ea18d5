#pragma once
// Python objects as values of a configuration: what Python passes is read, checked and refused by the readers of
// configuration files (lockstep/config), so that both have the same keys, defaults, ranges and messages.

#include <nanobind/nanobind.h>

#include <string>

#include "lockstep/config/value.hpp"

namespace lockstep::python {

/// None, bool, int, float, str, list, tuple, dict, and what can be read as one of them (numbers of NumPy). Entries of a
/// dict that are None are left out: the default holds. `origin` begins every message: "fit", "Conv2d".
Value value_of(nanobind::handle object, const std::string& origin);

}  // namespace lockstep::python
