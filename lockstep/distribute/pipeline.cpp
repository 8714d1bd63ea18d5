#include "lockstep/distribute/pipeline.hpp"

#include <algorithm>

#include "lockstep/lab/lap.hpp"

namespace lockstep {

template <class T>
Pipeline<T>::Pipeline(Worker<T>& worker, std::unique_ptr<Ranks> stages, PipelineSchedule schedule, const Stage& stage)
    : worker_(worker), stages_(std::move(stages)), schedule_(schedule), stage_(stage) {}

template <class T>
void Pipeline<T>::send(int to, ConstMatrix<T> matrix, const Split& split, PhaseTimes& times) {
  const Channels rows = split.part(matrix.rows, stage_.member);
  const std::span<const std::byte> bytes = bytes_of(matrix.row(rows.first), rows.count * matrix.stride);
  stages_->send(to, bytes);
  times.sent_bytes += double(bytes.size());
}

template <class T>
void Pipeline<T>::receive(int from, Matrix<T> matrix, const Split& split) {
  const Channels rows = split.part(matrix.rows, stage_.member);
  stages_->receive(from, writable_bytes_of(matrix.row(rows.first), rows.count * matrix.stride));
}

/// For the receives, and for the sends before them: their memory may then be used again.
template <class T>
void Pipeline<T>::wait(const Chunk& chunk, PhaseTimes& times) {
  Lap lap;
  stages_->wait("pipeline");
  lap(times.bubble);
  if (chunk.recorder != nullptr) chunk.recorder->close(kBubbleSection, 0, 0);
}

template <class T>
void Pipeline<T>::forward(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores, PhaseTimes& times) {
  worker_.reserve(chunk, buffers);
  if (first()) {
    worker_.load(chunk, buffers, times);
    wait(chunk, times);
  } else {
    const auto samples = static_cast<std::int64_t>(chunk.ids.size());
    const Matrix<T> x{buffers.input.data(), stage_.inputs, samples, padded(samples)};
    receive(stages_->rank() - 1, x, stage_.in_split);
    wait(chunk, times);
    worker_.gather(chunk, x, stage_.in_split, times);
    buffers.x = x;
  }
  worker_.forward(chunk, buffers, times);
  if (last())
    buffers.dy = worker_.score(chunk, buffers, scores, times);
  else
    send(stages_->rank() + 1, buffers.y, stage_.out_split, times);
}

template <class T>
void Pipeline<T>::backward(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (!last()) {
    buffers.dy = {buffers.gradient.data(), stage_.outputs, samples, padded(samples)};
    receive(stages_->rank() + 1, buffers.dy, stage_.out_split);
  }
  wait(chunk, times);
  Matrix<T> dx;
  if (!first()) {
    if (back_.size() < stage_.inputs * padded(samples)) back_ = AlignedBuffer<T>(stage_.inputs * padded(samples));
    dx = {back_.data(), stage_.inputs, samples, padded(samples)};
  }
  worker_.backward(chunk, buffers, buffers.dy, dx, stage_.out_split, times);
  if (!first()) send(stages_->rank() - 1, dx, stage_.in_split, times);
}

template <class T>
void Pipeline<T>::train(std::vector<Chunk>& chunks, SlotScores& scores, PhaseTimes& times,
                        const std::function<void(std::size_t, AlignedBuffer<T>&)>& done) {
  const auto count = static_cast<std::int64_t>(chunks.size());
  const auto in_flight = static_cast<std::size_t>(chunks_in_flight(schedule_, stages_->rank(), stages_->size(), count));
  while (in_flight_.size() < in_flight) in_flight_.push_back(std::make_unique<ChunkBuffers<T>>());
  while (gradients_.size() < in_flight) gradients_.push_back(slot_vector<T>(stage_.count));
  for (const PipelineStep& step : pipeline_steps(schedule_, stages_->rank(), stages_->size(), count)) {
    const auto index = static_cast<std::size_t>(step.chunk);
    Chunk& chunk = chunks[index];
    ChunkBuffers<T>& buffers = *in_flight_[index % in_flight];
    AlignedBuffer<T>& gradients = gradients_[index % in_flight];
    chunk.gradients = gradients.data();
    if (step.forward) {
      forward(chunk, buffers, scores, times);
    } else {
      backward(chunk, buffers, times);
      done(index, gradients);
    }
  }
  Lap lap;
  stages_->wait("pipeline");
  lap(times.bubble);
}

template <class T>
void Pipeline<T>::infer(const Chunk& chunk, SlotScores& scores, PhaseTimes& times) {
  if (in_flight_.empty()) in_flight_.push_back(std::make_unique<ChunkBuffers<T>>());
  forward(chunk, *in_flight_.front(), scores, times);
  stages_->wait("pipeline");
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace lockstep
