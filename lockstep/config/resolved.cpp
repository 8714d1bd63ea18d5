#include <fmt/format.h>

#include "lockstep/config/sections.hpp"
#include "lockstep/config/toml.hpp"

namespace lockstep {

namespace {

// Numbers are printed in the shortest form that reads back to the same bits.

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::string& value) { return toml_quote(value); }

std::string text_of(const Extent& extent) {
  if (extent.height == extent.width) return text_of(extent.height);
  return fmt::format("[{}, {}]", extent.height, extent.width);
}

class Writer {
 public:
  void section(std::string_view name) { out_ += fmt::format("{}[{}]\n", out_.empty() ? "" : "\n", name); }
  template <class T>
  void put(std::string_view key, const T& value) {
    raw(key, text_of(value));
  }
  void raw(std::string_view key, std::string_view text) { out_ += fmt::format("{} = {}\n", key, text); }
  /// A field whose empty value means "by default" and cannot be written.
  template <class T>
  void put_unless(const T& absent, std::string_view key, const T& value) {
    if (value != absent) put(key, value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

std::string tail(const std::optional<Init>& init) { return init ? fmt::format(", init = {}", init_toml(*init)) : ""; }

template <class Pool>
std::string pool_options(const Pool& pool) {
  const std::string stride = pool.stride ? fmt::format(", stride = {}", text_of(*pool.stride)) : "";
  return fmt::format("{{window = {}{}, pad = {}}}", text_of(pool.window), stride, text_of(pool.pad));
}

/// What stands after the equals sign; empty for a layer without options.
std::string layer_options(const LayerSpec& spec, int indent) {
  const Cases visitor{
      [](const Linear& l) { return fmt::format("{{out = {}, bias = {}{}}}", l.out, text_of(l.bias), tail(l.init)); },
      [](const Conv2d& c) {
        return fmt::format("{{out = {}, kernel = {}, stride = {}, pad = {}, dilation = {}, groups = {}, bias = {}{}}}",
                           c.out, text_of(c.kernel), text_of(c.stride), text_of(c.pad), text_of(c.dilation), c.groups,
                           text_of(c.bias), tail(c.init));
      },
      [](const MaxPool2d& p) { return pool_options(p); },
      [](const AvgPool2d& p) { return pool_options(p); },
      [](const LeakyRelu& l) { return text_of(l.slope); },
      [](const Sigmoid& s) { return text_of(s.lambda); },
      [](const Dropout& d) { return text_of(d.p); },
      [](const BatchNorm& b) { return fmt::format("{{momentum = {}, eps = {}}}", b.momentum, b.eps); },
      [indent](const Residual& r) {
        std::string text = fmt::format("{{body = {}", layers_toml(r.body, indent + 2));
        if (!r.shortcut.empty()) text += fmt::format(", shortcut = {}", layers_toml(r.shortcut, indent + 2));
        return text + "}";
      },
      [](const auto&) { return std::string(); },
  };
  return std::visit(visitor, spec.kind);
}

std::string optimizer_toml(const OptimizerSpec& spec) {
  const Cases visitor{
      [](const Sgd& s) {
        if (s.momentum == 0) return fmt::format("{{name = \"sgd\", lr = {}}}", s.lr);
        return fmt::format("{{name = \"{}\", lr = {}, momentum = {}}}", s.nesterov ? "nesterov" : "momentum", s.lr,
                           s.momentum);
      },
      [](const Adam& a) {
        return fmt::format("{{name = \"adam\", lr = {}, beta1 = {}, beta2 = {}, eps = {}}}", a.lr, a.beta1, a.beta2,
                           a.eps);
      },
      [](const AdamW& a) {
        return fmt::format("{{name = \"adamw\", lr = {}, beta1 = {}, beta2 = {}, eps = {}, weight_decay = {}}}", a.lr,
                           a.beta1, a.beta2, a.eps, a.weight_decay);
      },
      [](const RmsProp& r) {
        return fmt::format("{{name = \"rmsprop\", lr = {}, alpha = {}, eps = {}}}", r.lr, r.alpha, r.eps);
      },
  };
  return std::visit(visitor, spec);
}

std::string schedule_toml(const Schedule& s) {
  const std::string warmup = fmt::format("warmup_steps = {}", s.warmup_steps);
  if (s.kind == ScheduleKind::step)
    return fmt::format("{{name = \"step\", {}, every = {}, factor = {}}}", warmup, s.every, s.factor);
  if (s.kind == ScheduleKind::cosine) return fmt::format("{{name = \"cosine\", {}, final = {}}}", warmup, s.final);
  return fmt::format("{{name = \"constant\", {}}}", warmup);
}

void write_data(const DataConfig& data, Writer& out) {
  const std::string none;
  out.section("data");
  out.put("source", data.source);
  out.put_unless<std::int64_t>(0, "limit", data.limit);
  out.put_unless<std::int64_t>(0, "test_limit", data.test_limit);
  out.put_unless(none, "test", data.test);
  out.put_unless(none, "labels", data.labels);
  out.put_unless(none, "test_labels", data.test_labels);
  out.put_unless(none, "x_key", data.x_key);
  out.put_unless(none, "y_key", data.y_key);
  out.put_unless(none, "test_x_key", data.test_x_key);
  out.put_unless(none, "test_y_key", data.test_y_key);
  if (data.header) out.put("header", *data.header);
  out.put_unless(none, "label_column", data.label_column);
  out.put_unless(none, "label_rule", data.label_rule);
  out.put_unless(false, "regression", data.regression);
  out.put_unless(false, "stream", data.stream);
  if (!data.shape.empty()) out.raw("shape", fmt::format("[{}]", fmt::join(data.shape, ", ")));
  out.put_unless(none, "layout", data.layout);
  out.put_unless(false, "transpose", data.transpose);
  if (data.resize.size != 0)
    out.raw("resize", fmt::format("{{size = {}, method = {}}}", data.resize.size, toml_quote(data.resize.method)));
  out.put_unless(0.0, "scale", data.scale);
  out.put_unless(false, "standardise", data.standardise);
  out.put_unless(false, "one_hot", data.one_hot);
  const SplitConfig& split = data.split;
  const bool path = !is_named_source(data.source);
  // Where the defaults depend on the source both are said; elsewhere absent means false, as it always did.
  if (data.shuffles() || (path && split.any())) out.put("shuffle", data.shuffles());
  if (data.stratifies() || (path && split.any())) out.put("stratify", data.stratifies());
  if (split.any())
    out.raw("split",
            fmt::format("{{train = {}, validation = {}, test = {}}}", split.train, split.validation, split.test));
  out.put_unless<std::int64_t>(0, "count", data.count);
  out.put_unless<std::int64_t>(0, "test_count", data.test_count);
  if (data.noise >= 0) out.put("noise", data.noise);
  out.put_unless(DataConfig{}.factor, "factor", data.factor);
  out.put_unless<std::int64_t>(0, "classes", data.classes);
  out.put_unless<std::int64_t>(0, "features", data.features);
  out.put("seed", data.seed);
  if (data.from_rank0) out.put("from", std::string("rank0"));
}

void write_model(const ModelConfig& model, Writer& out) {
  out.section("model");
  out.raw("input", fmt::format("[{}]", fmt::join(model.input.extents(), ", ")));
  out.raw("layers", layers_toml(model.layers, 2));
  out.put("precision", to_string(model.precision));
  out.raw("init", model.init_file.empty() ? init_toml(model.init) : toml_quote(model.init_file));
}

void write_train(const RunConfig& config, Writer& out) {
  const TrainOptions& train = config.train;
  out.section("train");
  out.put("loss", loss_names()[static_cast<std::size_t>(train.loss)]);
  out.raw("optimizer", optimizer_toml(train.optimizer));
  out.raw("schedule", schedule_toml(train.schedule));
  out.raw("batch", train.batch == 0 ? "\"full\"" : text_of(train.batch));
  out.raw("slots", train.slots == 0 ? "\"auto\"" : text_of(train.slots));
  out.raw("reduction", train.reduction == Reduction::sum ? "\"sum\"" : "\"mean\"");
  out.put("l2", train.l2);
  out.put("clip_norm", train.clip_norm);
  out.put("shuffle", train.shuffle);
  out.put("epochs", config.epochs);
  out.put("seed", train.seed);
}

void write_checkpoint(const CheckpointConfig& checkpoint, Writer& out) {
  out.section("checkpoint");
  out.put("every_steps", checkpoint.every_steps);
  out.put("every_minutes", checkpoint.every_minutes);
}

void write_parallel(const ParallelOptions& parallel, Writer& out) {
  out.section("parallel");
  out.put("reduce", name_of(parallel.reduce));
  out.put("tensor", std::int64_t{parallel.tensor});
  out.put("pipeline", std::int64_t{parallel.pipeline});
  out.put("schedule", name_of(parallel.schedule));
}

}  // namespace

std::string init_toml(const Init& init) {
  const bool scaled =
      init.kind == InitKind::uniform || init.kind == InitKind::normal || init.kind == InitKind::constant;
  const std::string& name = init_names()[static_cast<std::size_t>(init.kind)];
  if (!scaled && !init.biases) return toml_quote(name);
  std::string text = fmt::format("{{name = {}", toml_quote(name));
  if (scaled) text += fmt::format(", scale = {}", init.scale);
  if (init.biases) text += ", biases = true";
  return text + "}";
}

std::string layers_toml(const std::vector<LayerSpec>& layers, int indent) {
  std::string text = "[\n";
  for (const LayerSpec& layer : layers) {
    const std::string options = layer_options(layer, indent), name = layer_type(layer);
    text += std::string(static_cast<std::size_t>(indent), ' ');
    text += options.empty() ? fmt::format("\"{}\",\n", name) : fmt::format("{{{} = {}}},\n", name, options);
  }
  return text + std::string(static_cast<std::size_t>(indent - 2), ' ') + "]";
}

std::string resolved_toml(const RunConfig& config) {
  Writer out;
  write_data(config.data, out);
  write_model(config.model, out);
  write_train(config, out);
  write_checkpoint(config.checkpoint, out);
  write_parallel(config.train.parallel, out);
  return out.take();
}

}  // namespace lockstep
