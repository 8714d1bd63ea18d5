#pragma once
// Where the time of an epoch went: means over the threads of a rank. Not under the promise, and apart from the metrics.

namespace lockstep {

/// Seconds. `wait` is the time at barriers; between ranks `exchange` sums gradients, `broadcast` sends weights,
/// `gather` completes the outputs of split layers, and in the `bubble` a stage of a pipeline waits for its neighbours.
struct PhaseTimes {
  double load = 0, forward = 0, loss = 0, backward = 0, gather = 0, bubble = 0, reduce = 0, exchange = 0, update = 0,
         broadcast = 0, wait = 0;
  double validation = 0, total = 0;
  double sent_bytes = 0;  // to other ranks, by all threads

  /// The rank's own work: without waiting for other ranks and threads, and without messages.
  double busy() const { return load + forward + loss + backward + reduce + update; }
};

/// The phases of a step, in the order in which they are shown.
struct Phase {
  const char* name;
  double PhaseTimes::*seconds;
};
inline constexpr Phase kPhases[] = {
    {"load", &PhaseTimes::load},           {"forward", &PhaseTimes::forward},   {"loss", &PhaseTimes::loss},
    {"backward", &PhaseTimes::backward},   {"gather", &PhaseTimes::gather},     {"bubble", &PhaseTimes::bubble},
    {"reduce", &PhaseTimes::reduce},       {"exchange", &PhaseTimes::exchange}, {"update", &PhaseTimes::update},
    {"broadcast", &PhaseTimes::broadcast}, {"wait", &PhaseTimes::wait}};

}  // namespace lockstep
