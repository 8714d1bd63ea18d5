#pragma once
// The primitives of kernels/primitives on a team of threads: rows shared out, the same bits on any number of threads.

#include "lockstep/kernels/primitives/table.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

/// Every member takes an equal share of the rows.
void team_elementwise_max(const PrimitiveTable& table, const ElementwiseMax& a, Team& team);

/// y = x x^T by a kernel of linear layers, with memory for the transpose and each member's scratch kept from call to
/// call.
class TeamXxt {
 public:
  /// `symmetric`: only the lower half is computed, in blocks of rows, and mirrored.
  TeamXxt(const Kernel<LinearForward<float>>& linear, const Xxt& a, bool symmetric, int threads);
  void run();

 private:
  void run_member(const Member& member);

  Kernel<LinearForward<float>> linear_;
  Xxt a_;
  bool symmetric_;
  Team team_;
  AlignedBuffer<float> transposed_;
  std::vector<KernelContext> contexts_;
};

}  // namespace lockstep::cli
