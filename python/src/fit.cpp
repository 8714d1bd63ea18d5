// net.fit: a Trainer behind a call of Python. Options are read by the reader of [train], callbacks take the
// interpreter's lock, and Ctrl-C ends the training after the step.

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <exception>

#include "lockstep/config/sections.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "python/src/net.hpp"
#include "python/src/session.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

using Clock = std::chrono::steady_clock;

/// How often Ctrl-C is looked for, and progress is shown.
constexpr std::chrono::milliseconds kLook{50}, kShow{100};

/// Ends a fit after a step or an epoch.
struct Stopped {};

nb::dict scores_dict(const Scores& scores) {
  nb::dict dict;
  dict["samples"] = scores.samples;
  dict["loss"] = scores.loss;
  if (const auto accuracy = scores.accuracy()) dict["accuracy"] = *accuracy;
  return dict;
}

nb::dict epoch_dict(const EpochReport& report) {
  nb::dict dict;
  dict["epoch"] = report.epoch;
  dict["step"] = report.steps;
  dict["lr"] = report.rate;
  dict["loss"] = report.train.loss;
  if (const auto accuracy = report.train.accuracy()) dict["accuracy"] = *accuracy;
  if (report.validation) {
    dict["validation_loss"] = report.validation->loss;
    if (const auto accuracy = report.validation->accuracy()) dict["validation_accuracy"] = *accuracy;
    for (const MetricValue& metric : report.validation->metrics)
      dict[("validation_" + metric.name).c_str()] = metric.value;
  }
  if (report.penalty != 0) dict["penalty"] = report.penalty;
  dict["weight_hash"] = report.weight_hash;
  dict["seconds"] = report.times.total;
  return dict;
}

nb::dict step_dict(const StepReport& report) {
  nb::dict dict;
  dict["epoch"] = report.epoch;
  dict["epochs"] = report.epochs;
  dict["step"] = report.step;
  dict["steps"] = report.steps;
  dict["samples"] = report.samples_done;
  dict["loss"] = report.loss;
  return dict;
}

nb::list profile_list(const Profile& profile) {
  nb::list rows;
  for (const ProfileRow& row : profile_rows(profile)) {
    nb::dict dict;
    dict["section"] = row.section.name;
    dict["phase"] = row.section.phase;
    dict["calls"] = row.calls;
    dict["seconds"] = row.seconds;
    dict["share"] = row.share;
    dict["flops"] = row.flops;
    dict["bytes"] = row.bytes;
    rows.append(dict);
  }
  return rows;
}

/// The callbacks of one fit. Each calls Python, and remembers why the training ends.
class Callbacks {
 public:
  Callbacks(nb::object on_step, nb::object on_epoch, nb::object show, Ranks* ranks)
      : on_step_(std::move(on_step)), on_epoch_(std::move(on_epoch)), show_(std::move(show)), ranks_(ranks) {}

  StepRequests requests() {
    if (Clock::now() - looked_ < kLook) return {};
    const nb::gil_scoped_acquire lock;
    looked_ = Clock::now();
    if (PyErr_CheckSignals() != 0) failure_ = std::make_exception_ptr(nb::python_error());
    return {.stop = failure_ != nullptr};
  }

  void step(const StepReport& report) {
    in_epoch_ = true;
    // Another rank was interrupted where this one has no failure of its own.
    if (report.requests.stop) interrupted_ = true;
    if (report.requests.stop) throw Stopped{};
    const bool shows = !show_.is_none() && Clock::now() - shown_ >= kShow;
    if (on_step_.is_none() && !shows) return;
    call([&] {
      if (shows) show_(step_dict(report)), shown_ = Clock::now();
      return !on_step_.is_none() && is_true(on_step_(step_dict(report)));
    });
    if (!on_step_.is_none()) agree();
  }

  void epoch(const EpochReport& report) {
    in_epoch_ = false;
    call([&] { return is_true(on_epoch_(epoch_dict(report))); });
    agree();
  }

  /// Whether the ranks agree after every step.
  bool asks_per_step() const { return !on_step_.is_none(); }
  /// Whether the last step was not the end of an epoch.
  bool in_epoch() const { return in_epoch_; }
  bool interrupted() const { return interrupted_; }
  /// Throws what a callback threw, or Ctrl-C.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// True of Python or NumPy; the function of Python is what decides for on_epoch, too.
  static bool is_true(const nb::object& answer) {
    return answer.ptr() == Py_True ||
           (!answer.is_none() && nb::cast<bool>(nb::module_::import_("lockstep._network").attr("is_true")(answer)));
  }

  template <class Call>
  void call(const Call& function) {
    const nb::gil_scoped_acquire lock;
    try {
      stop_ = function() || stop_;
    } catch (nb::python_error&) {
      failure_ = std::current_exception();
    }
  }

  /// Where one rank stops, all do, after the same step.
  void agree() {
    bool ends = stop_ || failure_;
    if (ranks_ != nullptr && ranks_->size() > 1)
      for (const std::string& other : ranks_->all_gather(ends ? "stop" : "", "callback")) ends |= !other.empty();
    stop_ = stop_ || ends;
    if (ends) throw Stopped{};
  }

  nb::object on_step_, on_epoch_, show_;
  Ranks* ranks_;
  Clock::time_point looked_ = Clock::now(), shown_{};
  std::exception_ptr failure_{};
  bool stop_ = false, interrupted_ = false, in_epoch_ = false;
};

/// The weights that the training starts with: those there are, or drawn by the seed of the network or of fit.
void settle_seed(Net& net, std::uint64_t seed) {
  if (net.drawn && !net.owned && !net.seed && net.drawn_with != seed)
    throw Error(ErrorCode::usage,
                fmt::format("fit: the weights were drawn with seed {} when they were first used, and this training has "
                            "seed {}; give the seed to the network: Network(..., seed={})",
                            net.drawn_with, seed, seed));
  net.draw(seed);
}

/// A trainer with these options: that of the last fit where it can go on, or a new one.
void settle_trainer(Net& net, const RunConfig& config, const Samples& data, std::optional<bool> resume, Ranks* ranks) {
  RunConfig key = config;
  key.epochs = 1;
  const std::string training = resolved_toml(key);
  const bool same = net.trainer && net.training == training;
  if (resume == true && !same)
    throw Error(ErrorCode::usage, net.trainer ? "fit: resume=True, but the options are not those of the last fit"
                                              : "fit: resume=True, but this network has not been trained here");
  const TrainOptions& wanted = config.train;
  if (same && resume != false && net.trained_by != ranks)
    throw Error(ErrorCode::usage,
                "fit: the last fit had the ranks of another communicator, and this one would continue it; resume=False "
                "starts a new training from the present weights");
  if (same && resume != false) {
    if (net.in_epoch && net.samples != data.data->size())
      throw Error(ErrorCode::usage,
                  fmt::format("fit: training stands in the middle of an epoch over {} samples, and these are {}; give "
                              "the same data, or resume=False for a new training",
                              net.samples, data.data->size()));
    const TrainOptions& present = net.trainer->options();
    if (present.backend == wanted.backend && (wanted.threads == 0 || present.threads == wanted.threads)) return;
  }
  std::optional<TrainingState> state;
  if (same && resume != false) state = net.trainer->state();
  net.forget_training();
  net.trainer = ranks != nullptr ? std::make_unique<Trainer>(net.network, wanted, *ranks)
                                 : std::make_unique<Trainer>(net.network, wanted);
  if (state) net.trainer->restore(*state);
  net.training = training;
  net.trained_by = ranks;
}

/// How the samples of this training become inputs, for the model file. A network that was loaded keeps its own.
void settle_info(Net& net, const Samples& data, Loss loss) {
  net.info.loss = loss;
  if (!net.info.scale.empty()) return;
  const std::vector<std::string> names = net.info.class_names;
  DataSplits splits = data.splits;
  splits.train = data.data;
  describe_data(data.config, splits, net.info);
  if (!names.empty()) net.info.class_names = names;
}

nb::dict fit(Net& net, const Samples& data, const Samples* validation, nb::dict options, const std::string& backend,
             int threads, const Communicator& communicator, nb::object on_step, nb::object on_epoch, nb::object show,
             bool profiled, std::optional<bool> resume) {
  RunConfig config;
  config.name = "fit";
  read_train(value_of(options, "fit"), config);
  config.train.backend = backend_named(backend);
  config.train.threads = threads;
  RankSession* const all = session(communicator);
  Ranks* const ranks = all != nullptr && all->ranks().size() > 1 ? &all->ranks() : nullptr;
  if (ranks != nullptr && threads == 0) config.train.threads = threads_of_rank(ranks->transport());
  const Net::Use use(net, true, "fit");
  settle_seed(net, config.train.seed);
  Callbacks callbacks(std::move(on_step), std::move(on_epoch), std::move(show), ranks);
  Profile profile;
  bool ended = false;
  if (ranks != nullptr) note_trainer(net);
  without_lock([&] {
    settle_trainer(net, config, data, resume, ranks);
    net.trainer->check(*data.data);
    if (ranks != nullptr) {
      check_same(*ranks, "options", fmt::format("{} epochs, {}", config.epochs, net.training));
      check_same(*ranks, "callbacks", callbacks.asks_per_step() ? "on_step" : "");
      check_same(*ranks, "initial weights", weight_hash(net.network.values()));
      check_same(*ranks, "data",
                 data_digest({.train = data.data, .validation = validation ? validation->data : nullptr}));
    }
    net.samples = data.data->size();
    net.owned = true;
    try {
      net.trainer->fit(*data.data, {.epochs = config.epochs,
                                    .validation = validation != nullptr ? validation->data.get() : nullptr,
                                    .requests = [&](std::int64_t) { return callbacks.requests(); },
                                    .on_step = [&](const StepReport& report) { callbacks.step(report); },
                                    .on_epoch = [&](const EpochReport& report) { callbacks.epoch(report); },
                                    .profile = profiled ? &profile : nullptr});
      ended = true;
    } catch (const Stopped&) {
    }
  });
  if (config.epochs > 0) net.in_epoch = callbacks.in_epoch();
  settle_info(net, data, config.train.loss);
  callbacks.rethrow();
  if (callbacks.interrupted()) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  nb::dict result;
  result["stopped"] = !ended;
  if (profiled) result["profile"] = profile_list(profile);
  return result;
}

TrainOptions train_options(nb::dict options, const std::string& backend, int threads, const char* origin) {
  RunConfig config;
  read_train(value_of(options, origin), config);
  config.train.backend = backend_named(backend);
  config.train.threads = threads;
  return config.train;
}

}  // namespace

void bind_fit(nb::class_<Net>& net) {
  net.def("fit", &fit, nb::arg("data"), nb::arg("validation").none(), nb::arg("options"), nb::arg("backend"),
          nb::arg("threads"), nb::arg("communicator").none(), nb::arg("on_step").none(), nb::arg("on_epoch").none(),
          nb::arg("show").none(), nb::arg("profile"), nb::arg("resume").none());
  net.def("evaluate", [](Net& self, const Samples& data, nb::dict options, const std::string& backend, int threads) {
    return scores_dict(self.evaluate(*data.data, train_options(options, backend, threads, "evaluate")));
  });
  net.def("gradient", [](Net& self, const Samples& data, nb::dict options, const std::string& backend, int threads) {
    const TrainOptions wanted = train_options(options, backend, threads, "gradient");
    const std::vector<double> all = self.gradient(*data.data, wanted);
    nb::dict named;
    const auto fill = [&]<class T>(const AlignedBuffer<T>&) {
      for (const ParameterInfo& each : self.network.parameters()) {
        if (!each.trainable()) continue;
        auto* out = new T[static_cast<std::size_t>(each.elements())];
        const nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        for (std::int64_t i = 0; i < each.elements(); ++i)
          out[i] = static_cast<T>(all[static_cast<std::size_t>(each.offset + i)]);
        std::vector<std::size_t> shape(each.shape.extents().begin(), each.shape.extents().end());
        named[each.name.c_str()] = nb::ndarray<nb::numpy, T>(out, shape.size(), shape.data(), owner);
      }
    };
    std::visit(fill, self.network.values());
    return named;
  });
}

}  // namespace lockstep::python
