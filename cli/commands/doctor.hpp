#pragma once
// lockstep doctor: what this machine has, what would spoil a measurement on it, and how to mend it.

#include "cli/output/console.hpp"

namespace lockstep::cli {

void run_doctor(Console& console);

}  // namespace lockstep::cli
