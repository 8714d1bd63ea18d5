#include "python/src/runs.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <exception>

#include "lockstep/run/train_run.hpp"
#include "python/src/net.hpp"
#include "python/src/session.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

/// Hands what a run tells to a function of Python: tell(kind, value). Steps come at most ten times a second.
class PythonRun final : public RunObserver {
 public:
  explicit PythonRun(nb::object tell) : tell_(std::move(tell)) {}

  void note(const std::string& line) override { tell("note", line); }
  void warn(const std::string& line) override { tell("warn", line); }
  void begin(std::int64_t, std::int64_t epochs) override { tell("begin", epochs); }
  void step(const StepReport& report) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    tell("step", report.epoch, report.epochs, report.step, report.steps, report.loss);
  }
  void epoch(const EpochReport& report) override { tell("epoch", report.epoch, report.train.loss); }

  /// Once per step: whether Ctrl-C was pressed, or Python failed.
  bool stop() {
    if (failure_) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < std::chrono::milliseconds(50)) return false;
    looked_ = now;
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) failure_ = std::make_exception_ptr(nb::python_error());
    return failure_ != nullptr;
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class... Values>
  void tell(const char* kind, const Values&... values) {
    const nb::gil_scoped_acquire lock;
    try {
      if (!tell_.is_none()) tell_(kind, values...);
    } catch (nb::python_error&) {
      failure_ = std::current_exception();
    }
  }

  nb::object tell_;
  std::exception_ptr failure_{};
  std::chrono::steady_clock::time_point shown_{}, looked_ = std::chrono::steady_clock::now();
};

/// The run directory and the result as JSON; the directory is empty on a rank other than 0.
nb::tuple train(const std::string& config, const std::vector<std::string>& set, const std::string& out, bool overwrite,
                bool resume, const std::string& backend, int threads, bool profile, const std::string& command,
                const Communicator& communicator, nb::object tell) {
  PythonRun observer(std::move(tell));
  RunOptions options{.set = set,
                     .out = out,
                     .overwrite = overwrite,
                     .resume = resume,
                     .backend = backend_named(backend),
                     .threads = threads,
                     .profile = profile,
                     .command = command,
                     .stop = [&] { return observer.stop(); },
                     .stop_reason = "by Ctrl-C or a callback",
                     .observer = &observer,
                     .session = session(communicator)};
  RunResult result;
  try {
    without_lock([&] { result = train_run(config, options); });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::preempted) observer.rethrow();
    throw;
  }
  const bool leads = !result.directory.empty();
  return nb::make_tuple(result.directory.string(), leads ? result.json() : std::string());
}

}  // namespace

void bind_runs(nb::module_& module) {
  module.def("train", &train, nb::arg("config"), nb::arg("set"), nb::arg("out"), nb::arg("overwrite"),
             nb::arg("resume"), nb::arg("backend"), nb::arg("threads"), nb::arg("profile"), nb::arg("command"),
             nb::arg("communicator").none(), nb::arg("tell").none());
}

}  // namespace lockstep::python
