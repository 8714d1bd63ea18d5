#pragma once
// Which kernels compute, and on which processors the threads run.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// "kernels naive: all operations", or a line for each name with the operations it serves.
std::vector<std::string> kernel_lines(Backend backend, Precision precision);

/// A line for people when the backend's results are not the bits of the promise; else nothing.
std::optional<std::string> promise_note(Backend backend);

/// kernel_lines and the thread map.
std::vector<std::string> verbose_lines(Backend backend, Precision precision, int threads);

}  // namespace lockstep
