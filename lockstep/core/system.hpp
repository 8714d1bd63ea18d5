#pragma once
// What the operating system knows: the host, its kernel, the time.

#include <string>

namespace lockstep {

/// The name of this host; empty when the system does not tell it.
std::string host_name();

/// The identifier of the running kernel: equal for all processes on one machine, containers included, and different
/// after a restart. Empty when the system does not tell it.
std::string boot_id();

/// The time in UTC: "2026-11-16T23:38:32Z".
std::string utc_now();

}  // namespace lockstep
