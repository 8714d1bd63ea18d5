#include "streams.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <set>

#include "memory.hpp"
#include "options.hpp"

using Clock = std::chrono::steady_clock;

/// One recording of an event: an event can be recorded again while a stream still waits for the earlier recording.
struct Recording {
  CUstream_st* stream = nullptr;
  bool reached = false;
  Clock::time_point time;
};
struct CUevent_st {
  std::shared_ptr<Recording> last;
};
struct CUstream_st {
  std::deque<std::function<void()>> work;
};

namespace cuda_emulator {

namespace {

CUstream_st& default_stream() {
  static CUstream_st stream;
  return stream;
}
std::set<CUstream_st*>& streams() {
  static std::set<CUstream_st*> all = {&default_stream()};
  return all;
}
CUstream_st* resolve(cudaStream_t stream) {
  if (stream == nullptr) return &default_stream();
  return streams().contains(stream) ? stream : nullptr;
}

void run_until(CUstream_st& stream, const std::function<bool()>& enough) {
  while (!stream.work.empty() && !enough()) {
    const auto work = std::move(stream.work.front());
    stream.work.pop_front();
    work();
  }
}
void run_all(CUstream_st& stream) {
  run_until(stream, [] { return false; });
}
void run_until_reached(Recording& recording) {
  if (recording.reached || recording.stream == nullptr) return;
  run_until(*recording.stream, [&] { return recording.reached; });
}

}  // namespace

std::unique_lock<std::recursive_mutex> lock_emulator() {
  static auto& mutex = *new std::recursive_mutex;  // never destroyed: destructors of others may still call
  return std::unique_lock(mutex);
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  const auto lock = lock_emulator();
  CUstream_st* const target = resolve(stream);
  if (target == nullptr) return;
  target->work.push_back(std::move(work));
  if (options().eager) run_all(*target);
}

}  // namespace cuda_emulator

using namespace cuda_emulator;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const auto lock = lock_emulator();
  *stream = new CUstream_st;
  streams().insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto lock = lock_emulator();
  if (stream == nullptr || resolve(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  run_all(*stream);
  streams().erase(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  if (resolve(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  run_all(*resolve(stream));
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  for (CUstream_st* stream : streams()) run_all(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto lock = lock_emulator();
  if (resolve(stream) == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->last == nullptr) return cudaSuccess;
  enqueue(stream, [recording = event->last] { run_until_reached(*recording); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const auto lock = lock_emulator();
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const auto lock = lock_emulator();
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  if (resolve(stream) == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
  event->last = std::make_shared<Recording>();
  event->last->stream = resolve(stream);
  enqueue(stream, [recording = event->last] {
    recording->time = Clock::now();
    recording->reached = true;
    recording->stream = nullptr;
  });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->last != nullptr) run_until_reached(*event->last);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const auto lock = lock_emulator();
  if (begin == nullptr || end == nullptr || begin->last == nullptr || end->last == nullptr)
    return cudaErrorInvalidResourceHandle;
  if (!begin->last->reached || !end->last->reached) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->last->time - begin->last->time).count();
  return cudaSuccess;
}
}
