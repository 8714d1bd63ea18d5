#pragma once
// The ranks of a run as training sees them: data x pipeline x tensor. The first pipeline x tensor ranks hold the
// network together, member by member of the first stage, then of the next one; every further group of so many is a
// replica, with samples of its own. What they tell each other besides gradients goes through here.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/parallel/ranks.hpp"
#include "lockstep/train/stage.hpp"
#include "lockstep/train/trainer.hpp"
#include "lockstep/train/worker.hpp"

namespace lockstep {

class RankGrid {
 public:
  /// `parts` are those of one replica, in the order of its ranks: `members` of each stage. Both must outlive it.
  RankGrid(Ranks& all, const std::vector<Stage>& parts, int members);

  Ranks& all() { return all_; }
  /// The ranks that hold the same as this one.
  Ranks& replicas() { return *replicas_; }
  /// The ranks that hold the other parts of this stage.
  Ranks& members() { return *members_; }
  /// Whether a rank holds a part of the network only.
  bool parted() const { return parts() > 1; }
  bool staged() const { return parts() > member_count_; }
  bool split() const { return member_count_ > 1; }
  const Stage& stage() const { return parts_[static_cast<std::size_t>(place())]; }
  /// The ranks of this pipeline, and those that hold this stage, for one thread of this rank.
  std::unique_ptr<Ranks> pipeline_of_thread(int thread);
  std::unique_ptr<Ranks> members_of_thread(int thread);

  /// Begins to tell all others the scores of this rank's slots (if it has the last stage), and its requests: together
  /// with the gradients, which are sent next. Then receive_scores fills in those of the others and returns everybody's
  /// requests.
  void send_scores(const SlotScores& scores, const StepRequests& requests);
  StepRequests receive_scores(SlotScores& scores);

  /// Each replica has filled in its share of `count` entries, in its ranks with the last stage: all of them to every
  /// rank.
  template <class U>
  void gather_scores(U* data, std::int64_t count);

  /// The ranks' parts of a vector over the parameters, with or without the running statistics: together they are
  /// `whole`, rank 0's. Replicas have the same parts, so one of each sends.
  template <class T>
  void collect(const T* own, T* whole, bool statistics);

  /// Rank 0's number, to all.
  void broadcast(double& number, const char* phase);

 private:
  /// A slot's scores on their way; the last entry of a rank carries its requests.
  struct SlotMail {
    double loss;
    std::int64_t correct;
    StepRequests requests;
  };

  int parts() const { return static_cast<int>(parts_.size()); }
  int place() const { return all_.rank() % parts(); }
  /// The place of the rank that tells a replica's scores: the first of those with the last stage.
  int teller() const { return parts() - member_count_; }
  bool has_scores(int rank) const { return rank % parts() == teller(); }
  std::vector<int> places(int first, int count, int step) const;
  std::span<SlotMail> mail_of(int rank, std::int64_t slots);
  bool relays() const;
  template <class Move>
  void for_mail(int first, int count, std::int64_t slots, const Move& move);
  void pass_mail(int known, std::int64_t slots);

  Ranks& all_;
  const std::vector<Stage>& parts_;
  int member_count_;
  std::unique_ptr<Ranks> replicas_, members_;
  std::vector<SlotMail> mail_;
};

}  // namespace lockstep
