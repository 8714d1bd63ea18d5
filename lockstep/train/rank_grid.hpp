#pragma once
// The ranks of a run as training sees them: data x pipeline. Rank r has stage r % stages of pipeline r / stages; ranks
// with the same stage are replicas, and have samples of their own. What they tell each other besides gradients goes
// through here.

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
  /// Both must outlive it.
  RankGrid(Ranks& all, const std::vector<Stage>& stages);

  Ranks& all() { return all_; }
  /// The ranks that have this one's stage.
  Ranks& replicas() { return *replicas_; }
  int stages() const { return static_cast<int>(stages_.size()); }
  bool staged() const { return stages() > 1; }
  const Stage& stage() const { return stages_[static_cast<std::size_t>(all_.rank() % stages())]; }
  /// The ranks of this pipeline, for one thread of this rank.
  std::unique_ptr<Ranks> pipeline_of_thread(int thread);

  /// Begins to tell all others the scores of this rank's slots (if it has the last stage), and its wishes: together
  /// with the gradients, which are sent next. Then receive_scores fills in those of the others and returns everybody's
  /// wishes.
  void send_scores(const SlotScores& scores, const StepWishes& wishes);
  StepWishes receive_scores(SlotScores& scores);

  /// Each replica has filled in its share of `count` entries, in its rank with the last stage: all of them to every
  /// rank.
  template <class U>
  void gather_scores(U* data, std::int64_t count);

  /// The stages' parts of a vector over the parameters, with or without the running statistics: together they are
  /// `whole`, rank 0's. Replicas have the same parts, so one of each sends.
  template <class T>
  void collect(const T* own, T* whole, bool statistics);

  /// Rank 0's number, to all.
  void broadcast(double& number, const char* phase);

 private:
  /// A slot's scores on their way; the last entry of a rank carries its wishes.
  struct SlotMail {
    double loss;
    std::int64_t correct;
    StepWishes wishes;
  };

  bool has_scores(int rank) const { return (rank + 1) % stages() == 0; }
  std::span<SlotMail> mail_of(int rank, std::int64_t slots);

  Ranks& all_;
  const std::vector<Stage>& stages_;
  std::unique_ptr<Ranks> replicas_;
  std::vector<SlotMail> mail_;
};

}  // namespace lockstep
