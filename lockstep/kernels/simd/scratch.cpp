#include "lockstep/kernels/simd/scratch.hpp"

#include "lockstep/kernels/context.hpp"

namespace lockstep {

std::byte* simd_scratch(KernelContext& context, std::int64_t bytes) { return context.scratch<std::byte>(bytes); }

}  // namespace lockstep
