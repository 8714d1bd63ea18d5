#include "lockstep/run/build_commit.hpp"

#include "build_commit.inc"

namespace lockstep {

std::string build_commit() { return kBuildCommit; }

}  // namespace lockstep
