#include "cli/ladder/peers.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

/// As many as a turn of the other rungs has; the time is their mean.
constexpr int kEpochs = 2;

std::optional<PeerPlace> peers_below(const fs::path& root) {
  const fs::path python = root / "build/venv-peers/bin/python3", scripts = root / "bench/peers";
  if (::access(python.c_str(), X_OK) != 0 || !fs::exists(scripts / "torch_peer.py")) return std::nullopt;
  return PeerPlace{python.string(), scripts.string()};
}

/// [kind, numbers...]; nothing for a layer that workloads.py does not have.
struct PeerLayer {
  std::optional<Json> operator()(const Linear& l) const {
    return l.bias ? std::optional(Json{"linear", l.out}) : std::nullopt;
  }
  std::optional<Json> operator()(const Conv2d& c) const {
    const bool plain = c.kernel.height == c.kernel.width && c.stride == Extent(1) && c.dilation == Extent(1) &&
                       c.pad.height == c.pad.width && c.groups == 1 && c.bias;
    return plain ? std::optional(Json{"conv2d", c.out, c.kernel.height, c.pad.height}) : std::nullopt;
  }
  std::optional<Json> operator()(const MaxPool2d& p) const {
    const bool plain =
        p.window.height == p.window.width && p.stride.value_or(p.window) == p.window && p.pad == Extent(0);
    return plain ? std::optional(Json{"max_pool2d", p.window.height}) : std::nullopt;
  }
  std::optional<Json> operator()(const Relu&) const { return Json::array({"relu"}); }
  std::optional<Json> operator()(const Sigmoid&) const { return Json::array({"sigmoid"}); }
  std::optional<Json> operator()(const Flatten&) const { return Json::array({"flatten"}); }
  std::optional<Json> operator()(const BatchNorm&) const { return Json::array({"batch_norm"}); }
  template <class Other>
  std::optional<Json> operator()(const Other&) const {
    return std::nullopt;
  }
};

struct PeerOptimizer {
  std::optional<Json> operator()(const Sgd& s) const { return Json{"sgd", s.lr, 0.0}; }
  std::optional<Json> operator()(const Momentum& m) const { return Json{"sgd", m.lr, m.momentum}; }
  std::optional<Json> operator()(const Adam& a) const {
    const Adam usual;
    const bool plain = a.beta1 == usual.beta1 && a.beta2 == usual.beta2 && a.eps == usual.eps;
    return plain ? std::optional(Json{"adam", a.lr}) : std::nullopt;
  }
  template <class Other>
  std::optional<Json> operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<PeerPlace> find_peers() {
  std::error_code error;
  if (auto here = peers_below(fs::current_path(error))) return here;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (auto found = peers_below(folder)) return found;
  return std::nullopt;
}

std::optional<std::string> peer_workload(const RunConfig& config, std::int64_t samples, std::string& why) {
  const auto no = [&](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  if (config.data.source != "fashion-mnist") return no("the scripts in bench/peers load Fashion-MNIST alone");
  if (config.train.loss != Loss::cross_entropy)
    return no("the scripts in bench/peers know the loss cross-entropy alone");
  const TrainOptions& train = config.train;
  if (train.schedule.kind != ScheduleKind::constant || train.schedule.warmup_steps > 0 || train.l2 != 0 ||
      train.clip_norm != 0 || train.reduction != Reduction::mean)
    return no("the scripts in bench/peers know no schedule, l2, clipping or sums of gradients");
  const DataConfig& data = config.data;
  if (data.standardise || data.shuffles() || data.resize.size != 0 || data.transpose || !data.as_sequence.empty() ||
      (data.scale != 0 && data.scale != 255) || data.split.train + data.split.validation + data.split.test > 0)
    return no("the scripts in bench/peers take the pictures as they come: no split, resizing or standardising");
  if (config.train.batch <= 0) return no("the scripts in bench/peers need a batch size");
  Json layers = Json::array();
  for (const LayerSpec& layer : config.model.layers) {
    auto described = std::visit(PeerLayer{}, layer.kind);
    if (!described) return no(fmt::format("the scripts in bench/peers do not know this {}", layer_type(layer)));
    layers.push_back(std::move(*described));
  }
  const auto optimizer = std::visit(PeerOptimizer{}, config.train.optimizer);
  if (!optimizer)
    return no("the scripts in bench/peers know SGD (not Nesterov's) and Adam with its usual constants alone");
  Json input = Json::array();
  for (const std::int64_t extent : config.model.input.extents()) input.push_back(extent);
  return Json{{"layers", layers},        {"input", input},     {"batch", config.train.batch},
              {"optimizer", *optimizer}, {"samples", samples}, {"dtype", to_string(config.model.precision)},
              {"epochs", kEpochs}}
      .dump();
}

PeerRung::PeerRung(const PeerPlace& place, const Rung& rung, const std::string& workload, double seconds,
                   Stopped stopped) {
  const std::string threads = std::to_string(rung.threads);
  conversation_ = std::make_unique<Conversation>(
      std::vector<std::string>{place.python, "-B", fmt::format("{}/{}_peer.py", place.scripts, rung.backend), workload,
                               rung.variant, threads},
      Environment{{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}}, seconds, std::move(stopped));
}

PeerAnswer PeerRung::run(double seconds) {
  const Json json = conversation_->ask("run", seconds);
  PeerAnswer answer;
  for (const auto& [key, into] : {std::pair{"accuracy", &answer.accuracy}, {"loss", &answer.loss}})
    if (json.contains(key) && json[key].is_number()) *into = json[key].get<double>();
  if (!json.contains("seconds") || !json["seconds"].is_number())
    throw Error(ErrorCode::peer_lost, "it did not say how long it took");
  answer.seconds = json["seconds"].get<double>() / kEpochs;
  return answer;
}

PeerRung::Weights PeerRung::weights(const std::string& folder, double seconds) {
  static_cast<void>(conversation_->ask("weights " + folder, seconds));
  return {folder + "/initial.safetensors", folder + "/trained.safetensors"};
}

std::string PeerRung::version() const {
  const Json& greeting = conversation_->greeting();
  return greeting.contains("ready") && greeting["ready"].is_string() ? greeting["ready"].get<std::string>() : "";
}

}  // namespace lockstep::cli
