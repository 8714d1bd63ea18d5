#pragma once
// A tensor-parallel group: the ranks that hold the parts of split layers, as one thread of this rank sees them.

#include <memory>

#include "lockstep/lab/phase_times.hpp"
#include "lockstep/nn/split.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

class TensorGroup final : public ActivationGather {
 public:
  /// `members` in the order of their parts, on a channel of this thread.
  explicit TensorGroup(std::unique_ptr<Ranks> members) : members_(std::move(members)) {}

  void start_gather(std::byte* whole, const Split& split, std::int64_t unit) override;
  void finish_gather() override;

  /// Moves the time and bytes of gathers since the last call from `phase` to times.gather.
  void settle(double& phase, PhaseTimes& times);

 private:
  std::unique_ptr<Ranks> members_;
  bool started_ = false;
  double seconds_ = 0, bytes_ = 0;
};

}  // namespace lockstep
