#include "lockstep/distribute/rank_grid.hpp"

#include <algorithm>

namespace lockstep {

namespace {

// Channels of the transport: 0 is for all ranks. Two ranks that are replicas are not members of one stage, nor of one
// pipeline, so these groups can share channels.
constexpr int kGroups = 1, kFirstThread = 2;

}  // namespace

RankGrid::RankGrid(Ranks& all, const std::vector<Stage>& parts, int members)
    : all_(all), parts_(parts), member_count_(members) {
  std::vector<int> replicas;
  for (int rank = place(); rank < all.size(); rank += this->parts()) replicas.push_back(rank);
  replicas_ = std::make_unique<Ranks>(all, std::move(replicas), kGroups);
  members_ = std::make_unique<Ranks>(all, places(place() / members * members, members, 1), kGroups);
}

/// `count` ranks of this replica.
std::vector<int> RankGrid::places(int first, int count, int step) const {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(all_.rank() - place() + first + i * step);
  return ranks;
}

std::unique_ptr<Ranks> RankGrid::pipeline_of_thread(int thread) {
  const std::vector<int> ranks = places(place() % member_count_, parts() / member_count_, member_count_);
  return std::make_unique<Ranks>(all_, ranks, kFirstThread + thread);
}

std::unique_ptr<Ranks> RankGrid::members_of_thread(int thread) {
  const std::vector<int> ranks = places(place() / member_count_ * member_count_, member_count_, 1);
  return std::make_unique<Ranks>(all_, ranks, kFirstThread + thread);
}

/// A rank's messages, for batches of `slots`: the slots of its replica, if it sends the scores, and the requests. They
/// lie in the order of ranks.
std::span<RankGrid::SlotScoreMessage> RankGrid::messages_of(int rank, std::int64_t slots) {
  const int replica = rank / parts();
  const std::int64_t first = replicas_->share(slots, replica), last = replicas_->share(slots, replica + 1);
  const std::int64_t begin = rank % parts() > score_source() ? last : first, own = has_scores(rank) ? last - first : 0;
  return std::span(messages_).subspan(static_cast<std::size_t>(begin + rank), static_cast<std::size_t>(own + 1));
}

bool RankGrid::relays() const { return all_.size() > kMostDirect; }

/// move(messages) for those of `count` ranks from `first` on: two calls where rank 0 follows the last rank.
template <class Move>
void RankGrid::for_messages(int first, int count, std::int64_t slots, const Move& move) {
  const auto piece = [&](int begin, int end) {
    const std::span<SlotScoreMessage> front = messages_of(begin, slots), back = messages_of(end - 1, slots);
    move(std::span(front.data(), back.data() + back.size()));
  };
  const int size = all_.size();
  piece(first, std::min(first + count, size));
  if (first + count > size) piece(0, first + count - size);
}

/// With the messages of ranks [rank, rank + known) in hand, sends them to rank - known and receives those of
/// [rank + known, rank + 2 known).
void RankGrid::relay(int known, std::int64_t slots) {
  const int size = all_.size(), count = std::min(known, size - known);
  const int to = (all_.rank() + size - known) % size, from = (all_.rank() + known) % size;
  for_messages(all_.rank(), count, slots,
               [&](std::span<SlotScoreMessage> messages) { all_.send(to, std::as_bytes(messages)); });
  for_messages(from, count, slots,
               [&](std::span<SlotScoreMessage> messages) { all_.receive(from, std::as_writable_bytes(messages)); });
}

void RankGrid::send_scores(const SlotScores& scores, const StepRequests& requests) {
  const auto slots = static_cast<std::int64_t>(scores.loss.size());
  messages_.resize(static_cast<std::size_t>(slots + all_.size()));
  const std::span<SlotScoreMessage> own = messages_of(all_.rank(), slots);
  const auto first = static_cast<std::size_t>(replicas_->share(slots, replicas_->rank()));
  for (std::size_t i = 0; i + 1 < own.size(); ++i) own[i] = {scores.loss[first + i], scores.correct[first + i], {}};
  own.back() = {0, 0, requests};
  if (relays()) return relay(1, slots);
  for (int peer = 0; peer < all_.size(); ++peer) {
    if (peer == all_.rank()) continue;
    all_.send(peer, std::as_bytes(own));
    all_.receive(peer, std::as_writable_bytes(messages_of(peer, slots)));
  }
}

StepRequests RankGrid::receive_scores(SlotScores& scores) {
  const auto slots = static_cast<std::int64_t>(scores.loss.size());
  all_.wait("scores");
  for (int known = 2; relays() && known < all_.size(); known *= 2) {
    relay(known, slots);
    all_.wait("scores");
  }
  StepRequests requests;
  for (int rank = 0; rank < all_.size(); ++rank) {
    const std::span<const SlotScoreMessage> messages = messages_of(rank, slots);
    const auto first = static_cast<std::size_t>(replicas_->share(slots, rank / parts()));
    for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
      scores.loss[first + i] = messages[i].loss;
      scores.correct[first + i] = messages[i].correct;
    }
    const StepRequests& theirs = messages.back().requests;
    requests = {requests.stop || theirs.stop, requests.save || theirs.save};
  }
  return requests;
}

template <class U>
void RankGrid::gather_scores(U* data, std::int64_t count, std::int64_t width) {
  const auto part = [&](int replica) {
    const std::int64_t first = replicas_->share(count, replica);
    return writable_bytes_of(data + first * width, (replicas_->share(count, replica + 1) - first) * width);
  };
  for (int peer = 0; peer < all_.size(); ++peer) {
    if (peer == all_.rank()) continue;
    if (has_scores(all_.rank())) all_.send(peer, part(replicas_->rank()));
    if (has_scores(peer)) all_.receive(peer, part(peer / parts()));
  }
  all_.wait("evaluation");
}

template <class T>
void RankGrid::collect(const T* own, T* whole, bool statistics) {
  const auto for_each_piece = [&](const Stage& part, const auto& move) {
    for (const Piece& piece : part.pieces)
      if (statistics || piece.own < part.trainable) move(piece);
  };
  if (all_.leader()) {
    for (int rank = 1; rank < parts(); ++rank)
      for_each_piece(parts_[static_cast<std::size_t>(rank)], [&](const Piece& piece) {
        all_.receive(rank, writable_bytes_of(whole + piece.whole, piece.count));
      });
    for_each_piece(stage(),
                   [&](const Piece& piece) { std::copy_n(own + piece.own, piece.count, whole + piece.whole); });
  } else if (all_.rank() < parts()) {
    for_each_piece(stage(), [&](const Piece& piece) { all_.send(0, bytes_of(own + piece.own, piece.count)); });
  }
  all_.wait("collecting");
}

void RankGrid::broadcast(double& number, const char* phase) {
  for (int peer = 1; all_.leader() && peer < all_.size(); ++peer) all_.send(peer, bytes_of(&number, 1));
  if (!all_.leader()) all_.receive(0, writable_bytes_of(&number, 1));
  all_.wait(phase);
}

template void RankGrid::gather_scores(double*, std::int64_t, std::int64_t);
template void RankGrid::gather_scores(std::int64_t*, std::int64_t, std::int64_t);
template void RankGrid::collect(const float*, float*, bool);
template void RankGrid::collect(const double*, double*, bool);

}  // namespace lockstep
