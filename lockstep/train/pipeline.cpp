#include "lockstep/train/pipeline.hpp"

#include <algorithm>

#include "lockstep/train/lap.hpp"

namespace lockstep {

template <class T>
Pipeline<T>::Pipeline(Worker<T>& worker, Ranks& stages, PipelineSchedule schedule, const Stage& stage)
    : worker_(worker), stages_(stages), schedule_(schedule), stage_(stage) {}

template <class T>
void Pipeline<T>::send(int to, ConstMatrix<T> matrix, const Split& split, PhaseTimes& times) {
  const Channels rows = split.part(matrix.rows, stage_.member);
  const std::span<const std::byte> bytes = bytes_of(matrix.row(rows.first), rows.count * matrix.stride);
  stages_.send(to, bytes);
  times.sent_bytes += double(bytes.size());
}

template <class T>
void Pipeline<T>::receive(int from, Matrix<T> matrix, const Split& split) {
  const Channels rows = split.part(matrix.rows, stage_.member);
  stages_.receive(from, writable_bytes_of(matrix.row(rows.first), rows.count * matrix.stride));
}

/// For what was asked for, and for the sends before it: their memory may then be used again.
template <class T>
void Pipeline<T>::wait(const Task& task, PhaseTimes& times) {
  Lap lap;
  stages_.wait("pipeline");
  lap(times.bubble);
  if (task.chunk.recorder != nullptr) task.chunk.recorder->close(kBubbleSection, 0, 0);
}

template <class T>
void Pipeline<T>::forward(Task& task, Flight<T>& flight, SlotScores& scores, PhaseTimes& times) {
  worker_.reserve(task.chunk, flight);
  if (first()) {
    worker_.load(task.chunk, flight, times);
    wait(task, times);
  } else {
    const auto samples = static_cast<std::int64_t>(task.chunk.ids.size());
    const Matrix<T> x{flight.input.data(), worker_.inputs(), samples, padded(samples)};
    receive(stages_.rank() - 1, x, stage_.in_split);
    wait(task, times);
    worker_.gather(task.chunk, x, stage_.in_split, times);
    flight.x = x;
  }
  worker_.forward(task.chunk, flight, times);
  if (last())
    flight.dy = worker_.score(task.chunk, flight, scores, task.first_slot, times);
  else
    send(stages_.rank() + 1, flight.y, stage_.out_split, times);
}

template <class T>
void Pipeline<T>::backward(Task& task, Flight<T>& flight, PhaseTimes& times) {
  const auto samples = static_cast<std::int64_t>(task.chunk.ids.size());
  if (!last()) {
    flight.dy = {flight.gradient.data(), worker_.outputs(), samples, padded(samples)};
    receive(stages_.rank() + 1, flight.dy, stage_.out_split);
  }
  wait(task, times);
  Matrix<T> dx;
  if (!first()) {
    if (back_.size() < worker_.inputs() * padded(samples)) back_ = AlignedBuffer<T>(worker_.inputs() * padded(samples));
    dx = {back_.data(), worker_.inputs(), samples, padded(samples)};
  }
  worker_.backward(task.chunk, flight, flight.dy, dx, stage_.out_split, times);
  if (!first()) send(stages_.rank() - 1, dx, stage_.in_split, times);
}

template <class T>
void Pipeline<T>::train(std::vector<Task>& tasks, SlotScores& scores, PhaseTimes& times,
                        const std::function<void(std::size_t, AlignedBuffer<T>&)>& done) {
  const auto count = static_cast<std::int64_t>(tasks.size());
  const auto flights = static_cast<std::size_t>(chunks_in_flight(schedule_, stages_.rank(), stages_.size(), count));
  while (flights_.size() < flights) flights_.push_back(std::make_unique<Flight<T>>());
  while (gradients_.size() < flights) gradients_.push_back(slot_vector<T>(stage_.count));
  for (const PipelineStep& step : pipeline_steps(schedule_, stages_.rank(), stages_.size(), count)) {
    const auto index = static_cast<std::size_t>(step.chunk);
    Task& task = tasks[index];
    Flight<T>& flight = *flights_[index % flights];
    AlignedBuffer<T>& gradients = gradients_[index % flights];
    task.chunk.gradients = gradients.data();
    if (step.forward) {
      forward(task, flight, scores, times);
    } else {
      backward(task, flight, times);
      done(index, gradients);
    }
  }
  Lap lap;
  stages_.wait("pipeline");
  lap(times.bubble);
}

template <class T>
void Pipeline<T>::infer(Task& task, SlotScores& scores, PhaseTimes& times) {
  if (flights_.empty()) flights_.push_back(std::make_unique<Flight<T>>());
  forward(task, *flights_.front(), scores, times);
  stages_.wait("pipeline");
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace lockstep
