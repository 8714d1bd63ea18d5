#pragma once
// A network as Python holds it: the weights, what trains and what runs them.

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lockstep/lockstep.hpp"
#include "lockstep/model/outputs.hpp"
#include "python/src/samples.hpp"

namespace lockstep::python {

class Net {
 public:
  Net(Network network, ModelInfo info, std::optional<std::uint64_t> seed);
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  Network network;
  ModelInfo info;

  // Where the weights come from. They are drawn when they are first read, trained or set; from then on the vector
  // stays where it is, since arrays of Python look at it.
  std::optional<std::uint64_t> seed;  // of the network; nothing: that of the first fit, or 1
  bool drawn = false;
  bool owned = false;  // trained, loaded or set: no longer what a seed gives

  std::uint64_t drawn_with = 1;

  /// Draws the weights with `fallback` where they are not there yet and the network has no seed of its own.
  void draw(std::uint64_t fallback = 1);
  /// New values in the same place. Throws Error(usage) in a callback of fit.
  void reset(std::uint64_t with);
  void set_parameter(const ParameterInfo& parameter, const AnyArray& values);
  /// The trainable parameters and running statistics under this name; Error(usage) lists the names.
  const ParameterInfo& parameter(const std::string& name) const;

  // A training that the next fit continues.
  std::unique_ptr<Trainer> trainer{};
  std::string training{};             // the options that determine its bits
  std::int64_t samples = 0;           // in its data
  bool in_epoch = false;              // it stands in the middle of an epoch
  const Ranks* trained_by = nullptr;  // null: this process alone
  /// Forgets it: the next fit starts with fresh optimiser state, from the present weights.
  void forget_training();

  /// Outputs [samples][outputs] for inputs that are as the network takes them.
  template <class T>
  void predict(std::span<const T> x, std::span<T> y, const PredictOptions& options);
  std::vector<double> predict(const Dataset& data, const PredictOptions& options);
  /// The same as probabilities and classes (model/outputs.hpp).
  std::vector<Answer> answers(const Dataset& data, const PredictOptions& options);
  Scores evaluate(const Dataset& data, TrainOptions options);
  /// By parameter vector, in the network's precision.
  std::vector<double> gradient(const Dataset& data, TrainOptions options);

  /// Held while weights are read or written by more than one call of Python. A callback of fit is inside: it may read
  /// the weights (on one thread, since the team is busy), but not change them.
  class Use {
   public:
    /// `writes`: Error(usage) inside a callback, and when another thread trains the network. Waits for readers.
    Use(Net& net, bool writes, const char* what);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool inside() const { return inside_; }

   private:
    Net& net_;
    bool inside_;
  };

 private:
  friend class Use;
  std::mutex mutex_;
  std::atomic<bool> writing_{false};
  std::atomic<std::thread::id> holder_{};
  std::unique_ptr<Predictor> predictor_{};
  PredictOptions predictor_options_{};
  Predictor& predictor(const PredictOptions& options);
};

/// The backend of this name; Error(usage) lists the names.
Backend backend_named(const std::string& name);

/// Runs `work` without the interpreter's lock. In a child of fork() on a thread of its own: the threads that the
/// parent's OpenMP had are not there any more, and those of a new thread are.
void without_lock(const std::function<void()>& work);
/// Called in the child of every fork().
void note_fork();

void bind_net(nanobind::module_& module);
void bind_fit(nanobind::class_<Net>& net);

}  // namespace lockstep::python
