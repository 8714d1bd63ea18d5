#pragma once
// The ranks that hold the parts of split layers, for one thread of this rank.

#include <memory>

#include "lockstep/nn/split.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

class RankHolders final : public Holders {
 public:
  /// `members` in the order of their parts, on a channel of this thread.
  explicit RankHolders(std::unique_ptr<Ranks> members) : members_(std::move(members)) {}

  void start_gather(std::byte* whole, const Split& split, std::int64_t unit) override;
  void finish_gather() override;

  /// What it took since the last call is no part of `phase`, but of times.gather.
  void settle(double& phase, PhaseTimes& times);

 private:
  std::unique_ptr<Ranks> members_;
  bool begun_ = false;
  double seconds_ = 0, bytes_ = 0;
};

}  // namespace lockstep
