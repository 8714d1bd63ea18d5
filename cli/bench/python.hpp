#pragma once
// The primitives in Python, where there is one: the interpreted loops that the classic claims are made against, and
// numpy and numba where they are installed.

#include <string>
#include <vector>

#include "cli/bench/primitives.hpp"

namespace lockstep::cli {

struct PythonTimes {
  std::string version{};                   // "3.11.2"; empty: no Python
  std::vector<PrimitiveResult> results{};  // loops first
  std::string missing{};                   // what there is no result of, and why; empty: nothing
};

/// `primitive` is max or xxt; k is not used for max. Loops that would take long run on some of the rows and are scaled.
/// Every result was checked in Python against another way to compute it.
PythonTimes measure_python(const std::string& primitive, std::int64_t n, std::int64_t k, bool quick);

}  // namespace lockstep::cli
