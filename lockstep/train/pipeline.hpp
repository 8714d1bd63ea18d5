#pragma once
// One thread's part in a pipeline: it carries chunks through the stage of its rank, and has the same thread of the
// ranks before and behind as neighbours. Chunks are computed as they would be by one worker, so the bits are the same.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lockstep/parallel/pipeline_schedule.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/slot_sums.hpp"
#include "lockstep/train/stage.hpp"
#include "lockstep/train/worker.hpp"

namespace lockstep {

template <class T>
class Pipeline {
 public:
  /// `stages` are the ranks of one pipeline, in the order of their stages, on a channel of this thread; `stage` is this
  /// rank's.
  Pipeline(Worker<T>& worker, Ranks& stages, PipelineSchedule schedule, const Stage& stage);

  struct Task {
    typename Worker<T>::Chunk chunk;  // its gradients are set here
    std::size_t first_slot;           // the entry of its first slot's scores
  };

  /// Forward and backward of every task. After the backward of task k, done(k, gradients) may take them, leaving a
  /// vector of the same size behind. The last stage fills in the scores.
  void train(std::vector<Task>& tasks, SlotScores& scores, PhaseTimes& times,
             const std::function<void(std::size_t, AlignedBuffer<T>&)>& done);
  /// Forward only.
  void infer(Task& task, SlotScores& scores, PhaseTimes& times);

 private:
  bool first() const { return stages_.rank() == 0; }
  bool last() const { return stages_.rank() + 1 == stages_.size(); }
  void forward(Task& task, Flight<T>& flight, SlotScores& scores, PhaseTimes& times);
  void backward(Task& task, Flight<T>& flight, PhaseTimes& times);
  // Members of a stage pass their parts of a matrix on.
  void send(int to, ConstMatrix<T> matrix, const Split& split, PhaseTimes& times);
  void receive(int from, Matrix<T> matrix, const Split& split);
  void wait(const Task& task, PhaseTimes& times);

  Worker<T>& worker_;
  Ranks& stages_;
  PipelineSchedule schedule_;
  const Stage& stage_;
  std::vector<std::unique_ptr<Flight<T>>> flights_;
  std::vector<AlignedBuffer<T>> gradients_;  // by the parameters, of each flight
  AlignedBuffer<T> back_;                    // the gradient on its way to the stage before
};

}  // namespace lockstep
