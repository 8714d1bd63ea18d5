#pragma once
// Our kernels as the ones to be compared with: rows shared out over threads.

#include <functional>

#include "lockstep/kernels/context.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

/// work(first, count, context) for every thread's share of the rows.
template <class Work>
void share_rows(std::int64_t rows, int threads, const Work& work) {
  if (threads == 1) {
    KernelContext context;
    return work(std::int64_t{0}, rows, context);
  }
  run_team(threads, [&](const Member& member) {
    const std::int64_t first = member.share(rows, member.index), end = member.share(rows, member.index + 1);
    KernelContext context;
    if (end > first) work(first, end - first, context);
  });
}

}  // namespace lockstep::cli
