#pragma once
// Lets the tests run on the emulator, unless the environment names a plugin: that is how they run on a GPU.

#include <cstdlib>

namespace lockstep::test {

/// To be called before anything opens the plugin; does nothing when called again.
inline void use_emulator() {
  ::setenv("LOCKSTEP_CUDA_PLUGIN", LOCKSTEP_EMULATED_PLUGIN, 0);
  ::setenv("LOCKSTEP_CUDA_EMULATOR", "random,memory=256", 0);
}

}  // namespace lockstep::test
