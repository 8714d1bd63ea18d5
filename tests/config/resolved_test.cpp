#include <gtest/gtest.h>

#include <filesystem>

#include "lockstep/config/config.hpp"
#include "lockstep/nn/layers.hpp"

namespace lockstep {
namespace {

TEST(ResolvedConfig, WritesEveryDefault) {
  const RunConfig config = parse_config("[data]\nsource = \"moons\"\n[model]\nsizes = \"2-3-2\"\n", "a.toml");
  EXPECT_EQ(resolved_toml(config), R"([data]
source = "moons"
seed = 1

[model]
input = [2]
layers = [
  {linear = {out = 3, bias = true}},
  {sigmoid = 1},
  {linear = {out = 2, bias = true}},
]
precision = "float32"
init = "xavier-uniform"

[train]
loss = "cross-entropy"
optimizer = {name = "adam", lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-08}
schedule = {name = "constant", warmup_steps = 0}
batch = 64
slots = "auto"
reduction = "mean"
l2 = 0
clip_norm = 0
shuffle = true
epochs = 1
seed = 1

[checkpoint]
every_steps = 0
every_minutes = 1

[parallel]
reduce = "tree"
tensor = 1
pipeline = 1
schedule = "1f1b"
)");
}

/// A layer of this type with the options it must have.
template <class Layer>
LayerSpec some_layer() {
  Layer layer;
  if constexpr (requires { layer.out; }) layer.out = 3;
  if constexpr (requires { layer.hidden; }) layer.hidden = 3;
  if constexpr (requires { layer.vocabulary; }) layer.vocabulary = 3;
  if constexpr (requires { layer.heads; }) layer.heads = 3;
  if constexpr (requires { layer.body; }) layer.body = {Relu{}};
  return layer;
}

template <class... Layers>
std::vector<LayerSpec> one_of_each(const std::variant<Layers...>*) {
  return {some_layer<Layers>()...};
}

TEST(ResolvedConfig, EveryLayerIsReadBack) {
  RunConfig config = parse_config("[data]\nsource = \"moons\"\n[model]\nsizes = \"2-3-1\"\n", "a.toml");
  for (const LayerSpec& layer : one_of_each(static_cast<const LayerKind*>(nullptr))) {
    config.model.layers = {layer};
    const std::string text = resolved_toml(config);
    EXPECT_EQ(resolved_toml(parse_config(text, "config.toml")), text) << layer_type(layer);
  }
}

constexpr const char* kBase = R"([data]
source = "moons"
[model]
input = [2, 8, 8]
layers = ["flatten", {linear = 2}]
[train]
optimizer = "adam"
)";

class ResolvedKey : public testing::TestWithParam<const char*> {};

/// Each key, changed alone, must show in the resolved text (so nothing is left out), and the text must parse back to
/// itself (so nothing is lost on the way).
TEST_P(ResolvedKey, ShowsAndSurvives) {
  const std::string base = resolved_toml(parse_config(kBase, "a.toml"));
  const std::string changed = resolved_toml(parse_config(kBase, "a.toml", {GetParam()}));
  EXPECT_NE(changed, base);
  EXPECT_EQ(resolved_toml(parse_config(changed, "resolved.toml")), changed);
}

INSTANTIATE_TEST_SUITE_P(
    , ResolvedKey,
    testing::Values(
        "data.source=\"odd \\\" name\\n\"", "data.limit=5", "data.test_limit=5", "data.test=x", "data.labels=x",
        "data.test_labels=x", "data.x_key=x", "data.y_key=x", "data.test_x_key=x", "data.test_y_key=x",
        "data.header=false", "data.header=true", "data.label_column=4", "data.label_column=name",
        "data.label_rule=digits", "data.layout=nhwc", "data.stratify=true", "data.regression=true", "data.stream=true",
        "data.shape=[1, 4]", "data.transpose=true", "data.resize=20", "data.resize={size = 20, method = \"bicubic\"}",
        "data.as_sequence=rows", "data.steps=7", "data.vocabulary=bytes", "data.characters=abc", "data.scale=256",
        "data.standardise=true", "data.one_hot=true", "data.shuffle=true", "data.split=[0.7, 0.2, 0.1]",
        "data.split={test = 100}", "data.count=10", "data.test_count=10", "data.noise=0", "data.noise=0.3",
        "data.factor=0.25", "data.classes=4", "data.features=4", "data.seed=9223372036854775807", "model.input=[128]",
        "model.precision=float64", "model.init=zeros", "model.init={name = \"uniform\", scale = 0.12}",
        "model.init={name = \"he-normal\", biases = true}",
        "model.init={name = \"constant\", scale = -1, biases = true}", "model.init=w.safetensors",
        "model.layers=[{linear = {out = 1, bias = false}}]", "model.layers=[{linear = {out = 1, init = \"zeros\"}}]",
        "model.layers=[{leaky_relu = 0.3}]", "model.layers=[{sigmoid = 2}]", "model.layers=[{dropout = 0.3}]",
        "model.layers=[{batch_norm = {eps = 0.1}}]",
        "model.layers=[{conv2d = {out = 2, kernel = [1, 2], stride = 2, pad = 1, dilation = 2, groups = 2, bias = "
        "false}}]",
        "model.layers=[{max_pool2d = {window = [1, 2], stride = 3, pad = 1}}]", "model.layers=[{avg_pool2d = 4}]",
        "model.layers=[{lstm = {hidden = 3, layers = 2, bidirectional = true}}]",
        "model.layers=[{gru = {hidden = 3, all_steps = true, bias = false}}]",
        "model.layers=[{linear = {out = 1, per_step = true}}]", "model.layers=[{layer_norm = {per_step = true}}]",
        "model.layers=[{embedding = {out = 1, vocabulary = 2, init = \"zeros\"}}, {positions = {init = \"zeros\"}}]",
        "model.layers=[{attention = {heads = 2, causal = true, bias = false, init = \"zeros\"}}]",
        "model.layers=[{rnn = {hidden = 3, relu = true, init = \"zeros\"}}]",
        "model.layers=[\"relu\", \"tanh\", \"abs_tanh\", \"gelu\", \"softmax\"]",
        "model.layers=[{residual = {body = [{residual = {body = [\"relu\"]}}], shortcut = [\"tanh\"]}}]",
        "train.loss=squared-error", "train.loss=binary-cross-entropy", "train.loss=focal", "train.focal_gamma=3",
        "train.loss=huber", "train.huber_delta=0.3", "train.label_smoothing=0.1", "train.class_weights=balanced",
        "train.class_weights=[1, 0.25]", "train.metrics=[\"f1\", \"top-2\"]", "train.early_stopping=3",
        "train.average=swa", "train.average={name = \"ema\", decay = 0.9, from = 3}", "data.augment={mixup = 0.2}",
        "train.early_stopping={patience = 4, metric = \"auc\", min_gain = 0.01}", "data.weights=w",
        "train.schedule={name = \"one-cycle\", start = 0.1, peak = 0.5, final = 0.01}",
        "train.schedule={name = \"plateau\", patience = 2, metric = \"f1\", min_gain = 0.1, factor = 0.5, final = 0.1}",
        "train.optimizer=sgd", "train.optimizer=momentum", "train.optimizer=nesterov",
        "train.optimizer={name = \"momentum\", momentum = 0.123456789012345678}", "train.optimizer.lr=1e-300",
        "train.optimizer.beta1=0.1", "train.optimizer.beta2=0.1", "train.optimizer.eps=0.1",
        "train.optimizer={name = \"adamw\", weight_decay = 0.3}", "train.optimizer={name = \"rmsprop\", alpha = 0.3}",
        "train.optimizer={name = \"lion\", beta2 = 0.3, weight_decay = 0.1}", "train.schedule=cosine",
        "train.schedule={name = \"cosine\", final = 0.25, warmup_steps = 3}",
        "train.schedule={name = \"step\", every = 2, factor = 0.25}",
        "train.schedule={name = \"constant\", warmup_steps = 5}", "train.batch=full", "train.batch=1", "train.slots=4",
        "train.reduction=sum", "train.l2=0.1", "train.clip_norm=0.1", "train.truncate=32", "train.shuffle=false",
        "train.epochs=7", "train.seed=3", "checkpoint.every_steps=100", "checkpoint.every_minutes=0",
        "checkpoint.every_minutes=0.123456789012345678"));

/// Whoever reads the file later must not guess what the defaults were.
TEST(ResolvedConfig, SaysHowAFileIsSplit) {
  const auto resolved = [](const std::string& data) {
    return resolved_toml(parse_config("[data]\n" + data + "[model]\nsizes = \"2-3-1\"\n", "a.toml"));
  };
  const std::string file = "source = \"a.csv\"\nsplit = [0.7, 0.15, 0.15]\n";
  EXPECT_NE(resolved(file).find("\nshuffle = true\nstratify = true\nsplit = "), std::string::npos) << resolved(file);
  EXPECT_NE(resolved(file + "shuffle = false\n").find("\nshuffle = false\nstratify = false\n"), std::string::npos);
  EXPECT_NE(resolved(file + "stratify = false\n").find("\nshuffle = true\nstratify = false\n"), std::string::npos);
  EXPECT_NE(resolved(file + "regression = true\n").find("\nshuffle = true\nstratify = false\n"), std::string::npos);
  for (const char* plain : {"source = \"a.csv\"\n", "source = \"moons\"\nsplit = [0.5, 0.25, 0.25]\n"})
    EXPECT_EQ(resolved(plain).find("stratify"), std::string::npos) << resolved(plain);
}

TEST(ResolvedConfig, EveryExampleIsAFixedPoint) {
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    const std::string once = resolved_toml(load_config(entry.path().string()));
    EXPECT_EQ(resolved_toml(parse_config(once, "resolved.toml")), once) << entry.path();
  }
}

TEST(ResolvedConfig, NumbersKeepTheirBits) {
  for (const double lr : {0.1, 1.0 / 3, 1e-300, 123456789.123456789, 5e-324}) {
    RunConfig exact = parse_config(kBase, "a.toml");
    exact.train.optimizer = Sgd{.lr = lr};
    const RunConfig back = parse_config(resolved_toml(exact), "resolved.toml");
    EXPECT_EQ(std::get<Sgd>(back.train.optimizer).lr, lr);
  }
}

}  // namespace
}  // namespace lockstep
