#pragma once
// One thread's part in a pipeline: it carries chunks through the stage of its rank. Its neighbours are the same thread
// of the ranks before and behind. Chunks are computed as one worker would compute them, so the bits are the same.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lockstep/distribute/stage.hpp"
#include "lockstep/distribute/worker.hpp"
#include "lockstep/parallel/pipeline_schedule.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/slot_sums.hpp"

namespace lockstep {

template <class T>
class Pipeline {
 public:
  /// `stages` are the ranks of one pipeline, in the order of their stages, on a channel of this thread; `stage` is this
  /// rank's.
  Pipeline(Worker<T>& worker, std::unique_ptr<Ranks> stages, PipelineSchedule schedule, const Stage& stage);

  using Chunk = typename Worker<T>::Chunk;

  /// Forward and backward of every chunk, whose gradients are set here. After the backward of chunk k, done(k,
  /// gradients) may take them, leaving a vector of the same size behind. The last stage fills in the scores.
  void train(std::vector<Chunk>& chunks, SlotScores& scores, PhaseTimes& times,
             const std::function<void(std::size_t, AlignedBuffer<T>&)>& done);
  /// Forward only.
  void infer(const Chunk& chunk, SlotScores& scores, PhaseTimes& times);

 private:
  bool first() const { return stages_->rank() == 0; }
  bool last() const { return stages_->rank() + 1 == stages_->size(); }
  void forward(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores, PhaseTimes& times);
  void backward(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times);
  // Each member of a stage sends its part of a matrix.
  void send(int to, ConstMatrix<T> matrix, const Split& split, PhaseTimes& times);
  void receive(int from, Matrix<T> matrix, const Split& split);
  void wait(const Chunk& chunk, PhaseTimes& times);

  Worker<T>& worker_;
  std::unique_ptr<Ranks> stages_;
  PipelineSchedule schedule_;
  const Stage& stage_;
  std::vector<std::unique_ptr<ChunkBuffers<T>>> in_flight_;
  std::vector<AlignedBuffer<T>> gradients_;  // by the parameters, of each chunk in flight
  AlignedBuffer<T> back_;                    // the gradient on its way to the stage before
};

}  // namespace lockstep
