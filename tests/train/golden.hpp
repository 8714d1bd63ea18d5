#pragma once
// Reads tests/golden/golden.json and makes what its cases describe: data, first weights, options. The formulas are
// those of tests/golden/make_golden.py.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lockstep/data/dataset.hpp"
#include "lockstep/model/network_json.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::golden {

using Json = nlohmann::json;

enum Stream : std::uint32_t { kInput = 1, kLabel = 2, kTarget = 3, kDot = 4, kSample = 5 };

/// A 32-bit hash of two numbers.
inline std::uint32_t mix(std::uint32_t stream, std::int64_t i) {
  std::uint32_t x = static_cast<std::uint32_t>(i + 1) * 0x9E3779B1U + stream * 0x85EBCA77U;
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// In [-1, 1), exact.
inline double noise(std::uint32_t stream, std::int64_t i) { return double(mix(stream, i)) / 2147483648.0 - 1; }

inline Json load() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/tests/golden/golden.json");
  return Json::parse(file);
}

class GoldenData final : public Dataset {
 public:
  /// `vocabulary`: the samples are tokens, of which there are so many. `step_classes`: every step has one of so many.
  GoldenData(Shape shape, std::int64_t samples, std::int64_t classes, std::int64_t outputs,
             std::vector<std::int64_t> lengths = {}, std::int64_t vocabulary = 0, std::int64_t step_classes = 0)
      : shape_(shape),
        samples_(samples),
        classes_(classes),
        outputs_(step_classes > 0 ? shape[shape.rank() - 1] : outputs),
        lengths_(std::move(lengths)),
        vocabulary_(vocabulary),
        step_classes_(step_classes) {}

  std::int64_t size() const override { return samples_; }
  Shape sample_shape() const override { return shape_; }
  std::int64_t classes() const override { return classes_; }
  std::int64_t target_size() const override { return classes_ > 0 ? 0 : outputs_; }
  std::int64_t step_classes() const override { return step_classes_; }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { fill(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { fill(ids, x); }
  bool has_lengths() const override { return !lengths_.empty(); }
  void lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const override {
    for (std::size_t j = 0; j < ids.size(); ++j) out[j] = lengths_.at(std::size_t(ids[j]));
  }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    for (std::size_t j = 0; j < ids.size(); ++j) out[j] = std::int32_t(mix(kLabel, ids[j]) % std::uint32_t(classes_));
  }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override { fill_targets(ids, t); }
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override { fill_targets(ids, t); }
  bool has_weights() const override { return false; }
  std::string describe() const override { return "golden data"; }

 private:
  template <class T>
  void fill(std::span<const std::int64_t> ids, Matrix<T> x) const {
    for (std::size_t j = 0; j < ids.size(); ++j)
      for (std::int64_t f = 0; f < features(); ++f) {
        const std::int64_t at = ids[j] * features() + f;
        x(f, std::int64_t(j)) =
            vocabulary_ > 0 ? T(mix(kInput, at) % std::uint32_t(vocabulary_)) : T(noise(kInput, at));
      }
  }
  template <class T>
  void fill_targets(std::span<const std::int64_t> ids, Matrix<T> t) const {
    for (std::size_t j = 0; j < ids.size(); ++j)
      for (std::int64_t k = 0; k < outputs_; ++k) {
        const std::int64_t at = ids[j] * outputs_ + k;
        t(k, std::int64_t(j)) =
            step_classes_ > 0 ? T(mix(kLabel, at) % std::uint32_t(step_classes_)) : T(0.5 * (noise(kTarget, at) + 1));
      }
  }

  Shape shape_;
  std::int64_t samples_, classes_, outputs_;
  std::vector<std::int64_t> lengths_;  // of sequences; empty: all samples have all steps
  std::int64_t vocabulary_, step_classes_;
};

/// The network of a case with its first weights. Throws std::runtime_error where a parameter has another name or shape.
inline Network make_network(const Json& c, Precision precision = Precision::float64) {
  Json description = c["network"];
  description["precision"] = to_string(precision);
  Network network = network_from_json(description.dump(), c["name"].get<std::string>());
  std::map<std::string, ParameterInfo> infos;
  for (const ParameterInfo& info : network.parameters()) infos[info.name] = info;
  for (const Json& p : c["parameters"]) {
    const auto found = infos.find(p["name"]);
    if (found == infos.end()) throw std::runtime_error("no parameter " + p["name"].get<std::string>());
    const auto extents = p["shape"].get<std::vector<std::int64_t>>();
    if (found->second.shape != Shape(extents))
      throw std::runtime_error(found->first + " is " + found->second.shape.str() + ", not " + Shape(extents).str());
    std::visit(
        [&](auto& values) {
          for (std::int64_t i = 0; i < found->second.elements(); ++i)
            values[found->second.offset + i] = std::decay_t<decltype(values[0])>(
                p["offset"].get<double>() + p["scale"].get<double>() * noise(p["stream"], i));
        },
        network.values());
  }
  return network;
}

inline GoldenData make_data(const Json& c, const Network& network) {
  return {network.input(),
          c["samples"],
          c["classes"],
          network.output().elements(),
          c.value("lengths", std::vector<std::int64_t>{}),
          c.value("vocabulary", std::int64_t{0}),
          c.value("step_classes", std::int64_t{0})};
}

inline OptimizerSpec make_optimizer(const Json& o) {
  const std::string name = o["name"];
  if (name == "sgd" && o["momentum"] == 0) return Sgd{.lr = o["lr"]};
  if (name == "sgd" && o["nesterov"]) return Nesterov{.lr = o["lr"], .momentum = o["momentum"]};
  if (name == "sgd") return Momentum{.lr = o["lr"], .momentum = o["momentum"]};
  if (name == "rmsprop") return RmsProp{.lr = o["lr"], .alpha = o["alpha"], .eps = o["eps"]};
  if (name == "adam") return Adam{.lr = o["lr"], .beta1 = o["beta1"], .beta2 = o["beta2"], .eps = o["eps"]};
  return AdamW{
      .lr = o["lr"], .beta1 = o["beta1"], .beta2 = o["beta2"], .eps = o["eps"], .weight_decay = o.at("weight_decay")};
}

inline TrainOptions make_options(const Json& c, std::int64_t slots) {
  static const std::map<std::string, Loss> losses = {{"cross-entropy", Loss::cross_entropy},
                                                     {"binary-cross-entropy", Loss::binary_cross_entropy},
                                                     {"squared-error", Loss::squared_error}};
  static const std::map<std::string, ScheduleKind> kinds = {
      {"constant", ScheduleKind::constant}, {"step", ScheduleKind::step}, {"cosine", ScheduleKind::cosine}};
  const Json& s = c["schedule"];
  return {.loss = losses.at(c["loss"]),
          .optimizer = make_optimizer(c["optimizer"]),
          .schedule = {.kind = kinds.at(s["kind"]),
                       .warmup_steps = s["warmup_steps"],
                       .every = s["every"],
                       .factor = s["factor"],
                       .final = s["final"]},
          .batch = c.value("batch", 0),
          .slots = slots,
          .reduction = c["reduction"] == "mean" ? Reduction::mean : Reduction::sum,
          .l2 = c["l2"],
          .clip_norm = c["clip_norm"],
          .truncate = c.value("truncate", 0),
          .shuffle = false};
}

}  // namespace lockstep::golden
