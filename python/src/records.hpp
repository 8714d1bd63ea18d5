#pragma once
// The layers, optimisers, schedules and initialisers as Python sees them: descriptions made from their lists of fields
// (lockstep/core/fields.hpp), from which python/lockstep/_records.py makes classes. A new record needs no change here.

#include <nanobind/nanobind.h>

namespace lockstep::python {

void bind_records(nanobind::module_& module);

}  // namespace lockstep::python
