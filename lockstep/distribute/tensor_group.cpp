#include "lockstep/distribute/tensor_group.hpp"

#include "lockstep/lab/lap.hpp"

namespace lockstep {

void TensorGroup::start_gather(std::byte* whole, const Split& split, std::int64_t unit) {
  Lap lap;
  const auto part = [&](int member) {
    const Channels units = split.part(split.units, member);
    return writable_bytes_of(whole + units.first * unit, units.count * unit);
  };
  for (int peer = 0; peer < members_->size(); ++peer) {
    if (peer == members_->rank()) continue;
    members_->send(peer, part(members_->rank()));
    members_->receive(peer, part(peer));
    bytes_ += double(part(members_->rank()).size());
  }
  started_ = true;
  lap(seconds_);
}

void TensorGroup::finish_gather() {
  if (!started_) return;
  Lap lap;
  members_->wait("gather");
  started_ = false;
  lap(seconds_);
}

void TensorGroup::settle(double& phase, PhaseTimes& times) {
  phase -= seconds_;
  times.gather += seconds_;
  times.sent_bytes += bytes_;
  seconds_ = bytes_ = 0;
}

}  // namespace lockstep
