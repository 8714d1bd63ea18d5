#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lockstep/config/sections.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/model/export.hpp"
#include "lockstep/model/network_json.hpp"
#include "python/src/net.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

/// A network from the section [model] of a configuration, as Python writes it.
std::unique_ptr<Net> make_net(nb::dict model, std::optional<std::uint64_t> seed) {
  RunConfig config;
  config.name = "Network";
  config.model = read_model(value_of(model, "Network"));
  return std::make_unique<Net>(make_network(config), ModelInfo{}, seed);
}

std::unique_ptr<Net> net_of(Model model) {
  auto net = std::make_unique<Net>(std::move(model.network), std::move(model.info), std::nullopt);
  net->drawn = net->owned = true;
  return net;
}

std::unique_ptr<Net> load_net(const std::string& path) {
  std::optional<Model> model;
  {
    const nb::gil_scoped_release release;
    model = load_model(path);
  }
  return net_of(std::move(*model));
}

std::unique_ptr<Net> net_from_bytes(const nb::bytes& bytes) {
  const auto* data = static_cast<const std::byte*>(bytes.data());
  return net_of(parse_model({data, bytes.size()}, "pickled network"));
}

nb::bytes net_bytes(Net& net) {
  const Net::Use use(net, false, "pickle");
  net.draw();
  const std::vector<std::byte> file = write_model(net.network, net.info);
  return nb::bytes(file.data(), file.size());
}

/// A parameter where it lies. The array keeps the network alive, and cannot be written: a change would pass the caches
/// of prediction by.
nb::object weight_view(nb::handle self, const std::string& name) {
  Net& net = nb::cast<Net&>(self);
  net.draw();
  const ParameterInfo& parameter = net.parameter(name);
  const std::vector<std::size_t> shape(parameter.shape.extents().begin(), parameter.shape.extents().end());
  const auto view = [&]<class T>(const AlignedBuffer<T>& all) {
    return nb::cast(nb::ndarray<nb::numpy, const T>(all.data() + parameter.offset, shape.size(), shape.data(), self));
  };
  return std::visit(view, net.network.values());
}

void set_weight(Net& net, const std::string& name, const nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>& values) {
  const Net::Use use(net, true, "weights");
  net.set_parameter(net.parameter(name), AnyArray(values));
}

std::vector<std::string> weight_names(const Net& net) {
  std::vector<std::string> names;
  for (const ParameterInfo& each : net.network.parameters()) names.push_back(each.name);
  return names;
}

nb::list summary(const Net& net) {
  nb::list rows;
  for (const LayerSummary& layer : net.network.summary()) {
    nb::dict row;
    row["path"] = layer.path;
    row["type"] = layer.type;
    row["detail"] = layer.detail;
    row["in"] = layer.in.str();
    row["out"] = layer.out.str();
    row["parameters"] = layer.parameters;
    row["flops"] = layer.flops;
    rows.append(row);
  }
  return rows;
}

template <class T>
nb::object new_array(std::size_t rows, std::size_t columns, T*& data) {
  data = new T[std::max<std::size_t>(rows * columns, 1)];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, {rows, columns}, owner), nb::rv_policy::reference);
}

/// Whether floating-point inputs of the model are the numbers that Python passes.
bool takes_as_is(const ModelInfo& info, double white, std::int64_t features) {
  const Scaling scaling = inputs_scaling(ElementType::float64, white, info, features);
  return scaling.scales().size() == 1 && scaling.scale(0) == 1 && scaling.offset(0) == 0;
}

/// The fast way: inputs as the network takes them, in its precision. Nothing where they are something else.
template <class T>
nb::object predict_in_place(Net& net, nb::handle x, const PredictOptions& options) {
  using Inputs = nb::ndarray<const T, nb::device::cpu, nb::c_contig>;
  Inputs inputs;
  if (!nb::try_cast(x, inputs, false) || inputs.ndim() < 2) return {};
  const auto features = static_cast<std::size_t>(net.network.input().elements());
  const std::size_t count = inputs.shape(0);
  if (count == 0 || inputs.size() != count * features) return {};
  const auto extents = net.network.input().extents();
  if (inputs.ndim() != extents.size() + 1) return {};
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (static_cast<std::int64_t>(inputs.shape(i + 1)) != extents[i]) return {};
  double white = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!std::isfinite(inputs.data()[i])) return {};  // the slow way says where
    if (inputs.data()[i] < 0 || inputs.data()[i] > 1) white = 255;
  }
  if (!takes_as_is(net.info, white, static_cast<std::int64_t>(features))) return {};
  T* outputs = nullptr;
  const auto width = static_cast<std::size_t>(net.network.output().elements());
  nb::object array = new_array<T>(count, width, outputs);
  net.predict(std::span<const T>(inputs.data(), inputs.size()), std::span<T>(outputs, count * width), options);
  return array;
}

nb::object predict_fast(Net& net, nb::handle x, const std::string& backend, int threads) {
  const PredictOptions options{.backend = backend_named(backend), .threads = threads};
  nb::object answer = net.network.precision() == Precision::float32 ? predict_in_place<float>(net, x, options)
                                                                    : predict_in_place<double>(net, x, options);
  return answer.is_valid() ? answer : nb::object(nb::none());
}

/// Seconds of a call of Predictor::run alone, the median of `calls`: what predict is compared with (bench/python).
double time_predict(Net& net, const nb::ndarray<const float, nb::device::cpu, nb::c_contig>& x, int threads,
                    int calls) {
  net.draw();
  Predictor predictor(net.network, {.threads = threads});
  std::vector<float> y(x.shape(0) * static_cast<std::size_t>(net.network.output().elements()));
  std::vector<double> seconds;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    predictor.run(std::span<const float>(x.data(), x.size()), y);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + calls / 2);
  return seconds[static_cast<std::size_t>(calls / 2)];
}

nb::object predict_samples(Net& net, const Samples& samples, const std::string& backend, int threads) {
  const std::vector<double> outputs =
      net.predict(*samples.data, {.backend = backend_named(backend), .threads = threads});
  const auto width = static_cast<std::size_t>(net.network.output().elements());
  const auto fill = [&]<class T>(const AlignedBuffer<T>&) {
    T* to = nullptr;
    nb::object array = new_array<T>(static_cast<std::size_t>(samples.data->size()), width, to);
    for (std::size_t i = 0; i < outputs.size(); ++i) to[i] = static_cast<T>(outputs[i]);
    return array;
  };
  return std::visit(fill, net.network.values());
}

/// (probabilities [samples, classes], classes [samples])
nb::tuple predict_answers(Net& net, const Samples& samples, const std::string& backend, int threads) {
  const std::vector<Answer> answers =
      net.answers(*samples.data, {.backend = backend_named(backend), .threads = threads});
  const std::size_t width = answers.empty() ? 0 : answers[0].values.size();
  double* values = nullptr;
  std::int64_t* best = nullptr;
  nb::object probabilities = new_array<double>(answers.size(), width, values);
  nb::object classes = new_array<std::int64_t>(answers.size(), 1, best);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::ranges::copy(answers[i].values, values + i * width);
    best[i] = answers[i].best;
  }
  return nb::make_tuple(probabilities, classes);
}

Samples samples_of(const Net& net, const AnyArray& x, const std::optional<AnyArray>& y,
                   const std::optional<AnyArray>& weights, std::optional<std::string> loss, const std::string& name) {
  std::optional<Loss> chosen;
  if (loss) {
    const auto& names = names_of<Loss>();
    const auto found = std::find(names.begin(), names.end(), *loss);
    if (found == names.end())
      throw Error(ErrorCode::usage,
                  fmt::format("unknown loss \"{}\"; there are {}; losses written in Python are not supported", *loss,
                              fmt::join(names, ", ")));
    chosen = static_cast<Loss>(found - names.begin());
  }
  return make_samples({x, y, weights}, net.network, net.info, chosen, name);
}

}  // namespace

void bind_net(nb::module_& module) {
  nb::class_<Net> net(module, "Net");
  bind_fit(net);
  module.def("make_net", &make_net, nb::arg("model"), nb::arg("seed").none());
  module.def("load_net", &load_net);
  module.def("net_from_bytes", &net_from_bytes);
  module.def("note_fork", &note_fork);
  net.def("bytes", &net_bytes)
      .def("reset",
           [](Net& self, std::uint64_t seed) {
             const Net::Use use(self, true, "reset");
             self.reset(seed);
           })
      .def("forget_training",
           [](Net& self) {
             const Net::Use use(self, true, "fit");
             self.forget_training();
           })
      .def("weight", [](nb::handle self, const std::string& name) { return weight_view(self, name); })
      .def("set_weight", &set_weight)
      .def("weight_names", &weight_names)
      .def_prop_ro("weight_hash",
                   [](Net& self) {
                     self.draw();
                     return weight_hash(self.network.values());
                   })
      .def_prop_ro("input",
                   [](const Net& self) {
                     const auto extents = self.network.input().extents();
                     return std::vector<std::int64_t>(extents.begin(), extents.end());
                   })
      .def_prop_ro("outputs", [](const Net& self) { return self.network.output().elements(); })
      .def_prop_ro("precision", [](const Net& self) { return to_string(self.network.precision()); })
      .def_prop_ro("parameters", [](const Net& self) { return self.network.trainable_count(); })
      .def_prop_ro("loss",
                   [](const Net& self) { return self.info.loss ? nb::cast(name_of(*self.info.loss)) : nb::none(); })
      .def_prop_rw(
          "class_names", [](const Net& self) { return self.info.class_names; },
          [](Net& self, std::vector<std::string> names) { self.info.class_names = std::move(names); })
      .def_prop_ro("json", [](const Net& self) { return network_to_json(self.network); })
      .def("summary", &summary)
      .def("samples", &samples_of, nb::arg("x"), nb::arg("y").none(), nb::arg("weights").none(), nb::arg("loss").none(),
           nb::arg("name"))
      .def("check_training",
           [](const Net&, const Samples& samples) {
             if (const auto* array = dynamic_cast<const ArrayDataset*>(samples.data.get())) array->check_pictures();
           })
      .def("predict_fast", &predict_fast)
      .def("time_predict", &time_predict)
      .def("predict", &predict_samples)
      .def("answers", &predict_answers)
      .def("save",
           [](Net& self, const std::string& path) {
             const Net::Use use(self, false, "save");
             self.draw();
             save_model(path, self.network, self.info);
           })
      .def("export", [](Net& self, const std::string& path) {
        const Net::Use use(self, false, "export");
        self.draw();
        export_model(self.network, path);
      });
}

}  // namespace lockstep::python
