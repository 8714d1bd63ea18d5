#include "lockstep/distribute/weight_columns.hpp"

#include <algorithm>

namespace lockstep {

template <class T>
WeightColumns<T>::WeightColumns(const Stage& stage, Ranks& members) : members_(members), columns_(stage.columns) {
  for_each_layer(stage.plans, [&](const LayerPlan& plan) {
    if (plan.columns < 0) return;
    weights_.push_back({*weight_shape(plan), plan.parameters[0].offset, plan.columns, plan.in_split, plan.out_split});
  });
  for (int peer = 0; peer < members.size(); ++peer) {
    const int own = members.rank();
    std::int64_t sent = 0, received = 0;
    for (const Weight& w : weights_) {
      if (peer == own) continue;
      sent += column_elements(w.shape, w.outs(own), w.ins(peer));
      received += column_elements(w.shape, w.outs(peer), w.ins(own));
    }
    sent_.emplace_back(sent);
    received_.emplace_back(received);
  }
}

template <class T>
double WeightColumns<T>::exchange(const T* parameters) {
  const int own = members_.rank();
  double bytes = 0;
  for (int peer = 0; peer < members_.size(); ++peer) {
    if (peer == own) continue;
    AlignedBuffer<T>&sent = sent_[static_cast<std::size_t>(peer)],
    &received = received_[static_cast<std::size_t>(peer)];
    T* to = sent.data();
    for (const Weight& w : weights_) to = copy_columns(w.shape, parameters + w.rows, w.outs(own), w.ins(peer), to);
    members_.send(peer, bytes_of(sent.data(), sent.size()));
    members_.receive(peer, writable_bytes_of(received.data(), received.size()));
    bytes += double(sent.size()) * double(sizeof(T));
  }
  // Outputs lie in their order: those of a member before the next one's.
  const auto place_of = [&](const Weight& w, int member) {
    return columns_.data() + w.columns + column_elements(w.shape, {0, w.outs(member).first}, w.ins(own));
  };
  for (const Weight& w : weights_)
    copy_columns(w.shape, parameters + w.rows, w.outs(own), w.ins(own), place_of(w, own));
  members_.wait("weights");
  for (int peer = 0; peer < members_.size(); ++peer) {
    if (peer == own) continue;
    const T* from = received_[static_cast<std::size_t>(peer)].data();
    for (const Weight& w : weights_) {
      const std::int64_t count = column_elements(w.shape, w.outs(peer), w.ins(own));
      std::copy_n(from, count, place_of(w, peer));
      from += count;
    }
  }
  return bytes;
}

template class WeightColumns<float>;
template class WeightColumns<double>;

}  // namespace lockstep
