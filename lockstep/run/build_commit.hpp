#pragma once

#include <string>

namespace lockstep {

/// The commit of the source that this program was built from, "-dirty" behind it where files had been changed;
/// "unknown" where it was not built from a repository.
std::string build_commit();

}  // namespace lockstep
