#pragma once
// The grid of ranks: data x pipeline x tensor. A *replica* is a group of pipeline x tensor consecutive ranks that hold
// the network together: the members of the first stage, then those of the next one. Each replica has samples of its
// own. Messages between ranks other than gradients and activations go through here.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/distribute/stage.hpp"
#include "lockstep/distribute/step_requests.hpp"
#include "lockstep/distribute/worker.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

class RankGrid {
 public:
  /// `parts` are those of one replica, in the order of its ranks: `members` of each stage. Both must outlive it.
  RankGrid(Ranks& all, const std::vector<Stage>& parts, int members);

  Ranks& all() { return all_; }
  /// The ranks with the same part of the network as this one.
  Ranks& replicas() { return *replicas_; }
  /// The ranks that hold this stage together.
  Ranks& members() { return *members_; }
  /// Whether a rank holds a part of the network only: a stage, a part of each layer, or both.
  bool is_sharded() const { return parts() > 1; }
  bool is_staged() const { return parts() > member_count_; }
  bool is_split() const { return member_count_ > 1; }
  const Stage& stage() const { return parts_[static_cast<std::size_t>(place())]; }
  /// The ranks of this pipeline, and those that hold this stage, for one thread of this rank.
  std::unique_ptr<Ranks> pipeline_of_thread(int thread);
  std::unique_ptr<Ranks> members_of_thread(int thread);

  /// Starts to send the scores of this rank's slots, if it has the last stage, and its requests to all ranks: together
  /// with the gradients, which are sent next. Then receive_scores fills in those of the others and returns the requests
  /// of all ranks.
  void send_scores(const SlotScores& scores, const StepRequests& requests);
  StepRequests receive_scores(SlotScores& scores);

  /// Every rank gets all of `count` entries. Each replica has filled in its share, in its ranks with the last stage.
  template <class U>
  void gather_scores(U* data, std::int64_t count, std::int64_t width = 1);

  /// Rank 0 gets `whole`, a vector over the parameters of which every rank has its part, with or without the running
  /// statistics. All replicas have the same; the first one sends.
  template <class T>
  void collect(const T* own, T* whole, bool statistics);

  /// Rank 0's number, to all.
  void broadcast(double& number, const char* phase);

 private:
  /// The scores of a slot; the last message of a rank carries its requests.
  struct SlotScoreMessage {
    double loss;
    std::int64_t correct;
    StepRequests requests;
  };

  int parts() const { return static_cast<int>(parts_.size()); }
  int place() const { return all_.rank() % parts(); }
  /// The rank, within its replica, that sends the scores: the first one with the last stage.
  int score_source() const { return parts() - member_count_; }
  bool has_scores(int rank) const { return rank % parts() == score_source(); }
  std::vector<int> places(int first, int count, int step) const;
  std::span<SlotScoreMessage> messages_of(int rank, std::int64_t slots);
  bool relays() const;
  template <class Move>
  void for_messages(int first, int count, std::int64_t slots, const Move& move);
  void relay(int known, std::int64_t slots);

  Ranks& all_;
  const std::vector<Stage>& parts_;
  int member_count_;
  std::unique_ptr<Ranks> replicas_, members_;
  std::vector<SlotScoreMessage> messages_;
};

}  // namespace lockstep
