#pragma once
// Whole runs from configuration files: ls.train.

#include <nanobind/nanobind.h>

namespace lockstep::python {

void bind_runs(nanobind::module_& module);

}  // namespace lockstep::python
