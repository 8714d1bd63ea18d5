#include "python/src/net.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "lockstep/core/error.hpp"
#include "python/src/session.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

std::atomic<bool> is_forked{false};

std::vector<std::int64_t> all_ids(const Dataset& data) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(data.size()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

/// Elements of any type as T, in the order in which they lie.
template <class T>
void convert(ElementType type, const void* from, std::int64_t count, T* to) {
  visit_element_type(type, [&](auto zero) {
    const auto* values = static_cast<const decltype(zero)*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(values[i]);
  });
}

}  // namespace

void note_fork() { is_forked = true; }

void without_lock(const std::function<void()>& work) {
  const nb::gil_scoped_release release;
  if (!is_forked) return work();
  std::exception_ptr failure;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

Backend backend_named(const std::string& name) {
  const std::vector<std::string>& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ErrorCode::usage, fmt::format("unknown backend \"{}\"; there are {}", name, fmt::join(names, ", ")));
  return static_cast<Backend>(found - names.begin());
}

Net::Use::Use(Net& net, bool writes, const char* what)
    : net_(net), inside_(net.holder_.load() == std::this_thread::get_id()) {
  if (inside_ && writes)
    throw Error(ErrorCode::usage, fmt::format("{}: not in a callback of fit: the network is being trained", what));
  if (inside_) return;
  const nb::gil_scoped_release release;  // who holds the network may need it
  if (net.writing_ || (writes && !net.mutex_.try_lock()))
    throw Error(ErrorCode::usage, fmt::format("{}: another thread is using this network; one at a time", what));
  if (!writes) net.mutex_.lock();
  net.writing_ = writes;
  if (writes) net.predictor_.reset();  // it has prepared the weights that are about to change
  net.holder_ = std::this_thread::get_id();
}

Net::Use::~Use() {
  if (inside_) return;
  net_.holder_ = std::thread::id{};
  net_.writing_ = false;
  net_.mutex_.unlock();
}

Net::Net(Network made, ModelInfo facts, std::optional<std::uint64_t> own)
    : network(std::move(made)), info(std::move(facts)), seed(own) {}

Net::~Net() { forget_trainer(*this); }

void Net::draw(std::uint64_t fallback) {
  if (drawn) return;
  drawn_with = seed.value_or(fallback);
  if (!owned) network.initialise_later(drawn_with);
  static_cast<void>(network.values());
  drawn = true;
}

void Net::reset(std::uint64_t with) {
  draw();
  Network fresh = network;
  fresh.initialise(with);
  const auto copy = [&]<class T>(const AlignedBuffer<T>& from) {
    std::copy_n(from.data(), from.size(), network.data<T>());
  };
  std::visit(copy, fresh.values());
  seed = with;
  owned = false;
  forget_training();
}

void Net::forget_training() {
  trainer.reset();
  training.clear();
  samples = 0;
  in_epoch = false;
  trained_by = nullptr;
}

const ParameterInfo& Net::parameter(const std::string& name) const {
  std::vector<std::string> names;
  for (const ParameterInfo& each : network.parameters()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw Error(ErrorCode::usage, fmt::format("weights: there is no \"{}\"; there are {}", name, fmt::join(names, ", ")));
}

void Net::set_parameter(const ParameterInfo& parameter, const AnyArray& values) {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < values.ndim(); ++i) dims.push_back(static_cast<std::int64_t>(values.shape(i)));
  if (!std::ranges::equal(dims, parameter.shape.extents()))
    throw Error(ErrorCode::data, fmt::format("weights: \"{}\" has the shape {}, not [{}]", parameter.name,
                                             parameter.shape.str(), fmt::join(dims, ",")));
  const auto type = element_type_of(values.dtype());
  if (!type) throw Error(ErrorCode::usage, fmt::format("weights: \"{}\" takes float32 or float64", parameter.name));
  draw();
  const auto set = [&]<class T>(AlignedBuffer<T>& all) {
    std::vector<T> fresh(static_cast<std::size_t>(parameter.elements()));
    convert(*type, values.data(), parameter.elements(), fresh.data());
    if (!all_finite(std::span<const T>(fresh)))
      throw Error(ErrorCode::data, fmt::format("weights: \"{}\" must hold finite numbers", parameter.name));
    std::ranges::copy(fresh, all.data() + parameter.offset);
  };
  std::visit(set, network.values());
  owned = true;
}

Predictor& Net::predictor(const PredictOptions& options) {
  const bool same =
      predictor_ && predictor_options_.backend == options.backend && predictor_options_.threads == options.threads;
  if (!same) {
    draw();
    predictor_ = std::make_unique<Predictor>(network, options);
    predictor_options_ = options;
  }
  return *predictor_;
}

template <class T>
void Net::predict(std::span<const T> x, std::span<T> y, const PredictOptions& options) {
  const Use use(*this, false, "predict");
  without_lock([&] {
    if (use.inside())
      Predictor(network, {.backend = options.backend, .threads = 1}).run(x, y);
    else
      predictor(options).run(x, y);
  });
}
template void Net::predict(std::span<const float>, std::span<float>, const PredictOptions&);
template void Net::predict(std::span<const double>, std::span<double>, const PredictOptions&);

std::vector<double> Net::predict(const Dataset& data, const PredictOptions& options) {
  const Use use(*this, false, "predict");
  std::vector<double> outputs;
  without_lock([&] {
    const std::vector<std::int64_t> ids = all_ids(data);
    outputs = use.inside() ? Predictor(network, {.backend = options.backend, .threads = 1}).run(data, ids)
                           : predictor(options).run(data, ids);
  });
  return outputs;
}

std::vector<Answer> Net::answers(const Dataset& data, const PredictOptions& options) {
  const Use use(*this, false, "predict_proba");
  std::vector<Answer> answers;
  without_lock([&] {
    draw();
    const Model model{network, info};
    answers = Outputs(model, {options.backend, use.inside() ? 1 : options.threads}).answers(data, all_ids(data));
  });
  return answers;
}

Scores Net::evaluate(const Dataset& data, TrainOptions options) {
  const Use use(*this, false, "evaluate");
  Scores scores;
  without_lock([&] {
    draw();
    if (use.inside()) options.threads = 1;
    scores = Trainer(network, options).evaluate(data);
  });
  return scores;
}

std::vector<double> Net::gradient(const Dataset& data, TrainOptions options) {
  const Use use(*this, false, "gradient");
  std::vector<double> gradient;
  without_lock([&] {
    draw();
    if (use.inside()) options.threads = 1;
    gradient = Trainer(network, options).gradient(data, all_ids(data));
  });
  return gradient;
}

}  // namespace lockstep::python
