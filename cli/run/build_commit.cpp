#include "cli/run/build_commit.hpp"

#include "build_commit.inc"

namespace lockstep::cli {

std::string build_commit() { return kBuildCommit; }

}  // namespace lockstep::cli
