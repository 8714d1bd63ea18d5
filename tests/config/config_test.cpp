#include "lockstep/config/config.hpp"

#include <gtest/gtest.h>

#include <regex>

#include <filesystem>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

constexpr std::string_view kExample = R"(
[data]
source = "fashion-mnist"
limit = 10000
[model]
input = [1, 28, 28]
layers = [ {conv2d = {out = 6, kernel = 5, pad = 2}}, "relu", {max_pool2d = 2}, "flatten", {linear = 10} ]
precision = "float32"
init = "xavier-uniform"
[train]
loss = "cross-entropy"
optimizer = {name = "adam", lr = 1e-3}
batch = 64
slots = "auto"
epochs = 5
seed = 1
)";

/// A configuration with one line of [model] or [train] replaced by the given text.
RunConfig with_model(const std::string& lines) {
  return parse_config("[data]\nsource = \"moons\"\n[model]\n" + lines + "\n", "a.toml");
}
RunConfig with_train(const std::string& lines) {
  return parse_config("[data]\nsource = \"moons\"\n[model]\nsizes = \"2-2\"\n[train]\n" + lines + "\n", "a.toml");
}
RunConfig with_data(const std::string& lines) {
  return parse_config("[data]\n" + lines + "\n[model]\nsizes = \"2-1\"\n", "a.toml");
}
LayerSpec layer(const std::string& text) {
  return with_model("input = [4, 8, 8]\nlayers = [" + text + "]").model.layers.at(0);
}
template <class Kind>
Kind layer_as(const std::string& text) {
  return std::get<Kind>(layer(text).kind);
}

TEST(Config, TheExampleOfTheIssue) {
  const RunConfig config = parse_config(kExample, "a.toml");
  EXPECT_EQ(config.name, "a.toml");
  EXPECT_EQ(config.data.source, "fashion-mnist");
  EXPECT_EQ(config.data.limit, 10000);
  EXPECT_EQ(config.model.input, (Shape{1, 28, 28}));
  ASSERT_EQ(config.model.layers.size(), 5U);
  const auto& conv = std::get<Conv2d>(config.model.layers[0].kind);
  EXPECT_EQ(conv.out, 6);
  EXPECT_EQ(conv.kernel, Extent(5));
  EXPECT_EQ(conv.pad, Extent(2));
  EXPECT_EQ(std::get<Linear>(config.model.layers[4].kind).out, 10);
  EXPECT_EQ(config.model.precision, Precision::float32);
  EXPECT_EQ(config.model.init.kind, InitKind::xavier_uniform);
  EXPECT_EQ(config.train.loss, Loss::cross_entropy);
  EXPECT_EQ(std::get<Adam>(config.train.optimizer).lr, 1e-3);
  EXPECT_EQ(config.train.batch, 64);
  EXPECT_EQ(config.train.slots, 0);
  EXPECT_EQ(config.epochs, 5);
  EXPECT_EQ(config.train.seed, 1U);
}

TEST(Config, OverridesChangeIt) {
  const RunConfig config = parse_config(
      kExample, "a.toml",
      {"train.epochs=2", "data.source=moons", "train.optimizer.lr=0.5", "train.batch=full", "model.precision=float64"});
  EXPECT_EQ(config.epochs, 2);
  EXPECT_EQ(config.data.source, "moons");
  EXPECT_EQ(std::get<Adam>(config.train.optimizer).lr, 0.5);
  EXPECT_EQ(config.train.batch, 0);
  EXPECT_EQ(config.model.precision, Precision::float64);
}

TEST(Config, DefaultsAreThoseOfTheStructs) {
  const RunConfig config = with_train("");
  const TrainOptions defaults;
  EXPECT_EQ(config.epochs, 1);
  EXPECT_EQ(config.train.loss, defaults.loss);
  EXPECT_EQ(config.train.batch, defaults.batch);
  EXPECT_EQ(config.train.reduction, defaults.reduction);
  EXPECT_EQ(config.train.shuffle, defaults.shuffle);
  EXPECT_EQ(config.train.seed, defaults.seed);
  EXPECT_EQ(config.train.clip_norm, 0);
  EXPECT_TRUE(std::holds_alternative<Adam>(config.train.optimizer));
  EXPECT_EQ(config.data.noise, -1);
  EXPECT_EQ(config.data.factor, 0.5);
}

TEST(Config, AnOptimizerWithoutItsName) {
  EXPECT_EQ(std::get<Adam>(with_train("optimizer = {lr = 0.5, beta1 = 0.8}").train.optimizer).lr, 0.5);
  EXPECT_EQ(std::get<Adam>(parse_config(kExample, "a.toml", {"train.optimizer.lr=0.25"}).train.optimizer).lr, 0.25);
  EXPECT_THROW(with_train("optimizer = {lr = 0.5, momentum = 0.9}"), Error);  // which one has both?
}

TEST(Config, TheLossOfOneOutput) {
  const auto loss_of = [](const std::string& model, const std::string& train = "") {
    return parse_config("[data]\nsource = \"moons\"\n[model]\n" + model + "\n[train]\n" + train, "a.toml").train.loss;
  };
  EXPECT_EQ(loss_of("sizes = \"2-3-1\""), Loss::squared_error);
  EXPECT_EQ(loss_of("sizes = \"2-3-1\"\noutput = \"sigmoid\""), Loss::binary_cross_entropy);
  EXPECT_EQ(loss_of("sizes = \"2-3-2\""), Loss::cross_entropy);
  EXPECT_EQ(loss_of("sizes = \"2-3-1\"", "loss = \"huber\""), Loss::huber);
  EXPECT_EQ(loss_of("input = [2]\nlayers = [{linear = 1}, {linear = 3}]"), Loss::cross_entropy);
}

TEST(Config, SizesMakeLayersWithActivationsBetween) {
  const RunConfig config = with_model("sizes = \"784-128-64-10\"\nactivation = \"relu\"\noutput = \"softmax\"");
  EXPECT_EQ(config.model.input, (Shape{784}));
  std::string types;
  for (const LayerSpec& spec : config.model.layers) types += layer_type(spec) + " ";
  EXPECT_EQ(types, "linear relu linear relu linear softmax ");
  EXPECT_EQ(std::get<Linear>(config.model.layers[2].kind).out, 64);
}

TEST(Config, SizesAloneMeanSigmoidsAndARawOutput) {
  const auto layers = with_model("sizes = [2, 3, 1]").model.layers;
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layer_type(layers[1]), "sigmoid");
  EXPECT_EQ(with_model("sizes = [2, 3, 1]\nactivation = \"none\"").model.layers.size(), 2U);
  EXPECT_EQ(with_model("sizes = \"64-3-1\"\ninput = [1, 8, 8]").model.input, (Shape{1, 8, 8}));
}

TEST(Config, LayersByName) {
  for (const std::string name : {"max_pool2d", "avg_pool2d", "relu", "leaky_relu", "tanh", "abs_tanh", "sigmoid",
                                 "gelu", "softmax", "batch_norm", "dropout", "flatten"}) {
    EXPECT_EQ(layer_type(layer("\"" + name + "\"")), name);
    EXPECT_EQ(layer_type(layer("{" + name + " = {}}")), name);
  }
}

TEST(Config, LayersWithOptions) {
  EXPECT_EQ(layer_as<Linear>("{linear = 10}").out, 10);
  const auto linear = layer_as<Linear>("{linear = {out = 3, bias = false, init = \"zeros\"}}");
  EXPECT_FALSE(linear.bias);
  EXPECT_EQ(linear.init->kind, InitKind::zeros);
  const auto conv = layer_as<Conv2d>(
      "{conv2d = {out = 8, kernel = [3, 5], stride = [2, 1], pad = [1, 2], dilation = 2, groups = 4, bias = false,"
      " init = {name = \"normal\", scale = 0.01}}}");
  EXPECT_EQ(conv.kernel, Extent(3, 5));
  EXPECT_EQ(conv.stride, Extent(2, 1));
  EXPECT_EQ(conv.pad, Extent(1, 2));
  EXPECT_EQ(conv.dilation, Extent(2));
  EXPECT_EQ(conv.groups, 4);
  EXPECT_FALSE(conv.bias);
  EXPECT_EQ(conv.init->scale, 0.01);
  const auto pool = layer_as<MaxPool2d>("{max_pool2d = {window = 3, stride = 2, pad = 1}}");
  EXPECT_EQ(pool.window, Extent(3));
  EXPECT_EQ(pool.stride, Extent(2));
  EXPECT_EQ(layer_as<AvgPool2d>("{avg_pool2d = [2, 4]}").window, Extent(2, 4));
  EXPECT_FALSE(layer_as<AvgPool2d>("{avg_pool2d = 2}").stride.has_value());
  EXPECT_EQ(layer_as<LeakyRelu>("{leaky_relu = 0.1}").slope, 0.1);
  EXPECT_EQ(layer_as<LeakyRelu>("{leaky_relu = {slope = 0.2}}").slope, 0.2);
  EXPECT_EQ(layer_as<Sigmoid>("{sigmoid = {lambda = 2}}").lambda, 2);
  EXPECT_EQ(layer_as<Dropout>("{dropout = 0.25}").p, 0.25);
  EXPECT_EQ(layer_as<BatchNorm>("{batch_norm = {momentum = 0.2, eps = 1e-3}}").momentum, 0.2);
}

TEST(Config, ResidualBlocksNest) {
  const auto block = layer_as<Residual>(
      "{residual = {body = [\"relu\", {residual = {body = [\"tanh\"]}}], shortcut = [{conv2d = {out = 4, kernel = "
      "1}}]}}");
  ASSERT_EQ(block.body.size(), 2U);
  EXPECT_EQ(std::get<Residual>(block.body[1].kind).body.size(), 1U);
  EXPECT_EQ(block.shortcut.size(), 1U);
}

TEST(Config, Initialisers) {
  for (std::size_t i = 0; i < names_of<InitKind>().size(); ++i) {
    const Init init = with_model("sizes = \"2-1\"\ninit = {name = \"" + names_of<InitKind>()[i] + "\", biases = true" +
                                 (i < 2 || i == 8 ? ", scale = 0.12}" : "}"))
                          .model.init;
    EXPECT_EQ(init.kind, static_cast<InitKind>(i));
    EXPECT_TRUE(init.biases);
  }
  const RunConfig file = with_model("sizes = \"2-1\"\ninit = \"weights/theta.mat\"");
  EXPECT_EQ(file.model.init_file, "weights/theta.mat");
}

TEST(Config, Optimisers) {
  const auto read = [](const std::string& text) { return with_train("optimizer = " + text).train.optimizer; };
  EXPECT_EQ(std::get<Sgd>(read("{name = \"sgd\", lr = 2}")).lr, 2);
  EXPECT_EQ(std::get<Sgd>(read("\"sgd\"")).lr, 0.01);
  EXPECT_EQ(std::get<Momentum>(read("\"momentum\"")).momentum, 0.9);
  EXPECT_EQ(std::get<Nesterov>(read("{name = \"nesterov\", momentum = 0.8}")).momentum, 0.8);
  EXPECT_EQ(std::get<Adam>(read("{name = \"adam\", beta1 = 0.5}")).beta1, 0.5);
  EXPECT_EQ(std::get<AdamW>(read("{name = \"adamw\", weight_decay = 0.5}")).weight_decay, 0.5);
  EXPECT_EQ(std::get<RmsProp>(read("{name = \"rmsprop\", alpha = 0.5}")).alpha, 0.5);
}

TEST(Config, SchedulesAndTheRest) {
  const RunConfig config = with_train(
      "schedule = {name = \"cosine\", warmup_steps = 10, final = 0.1}\nloss = \"squared-error\"\nreduction = \"sum\"\n"
      "l2 = 0.5\nclip_norm = 1\nshuffle = false\nslots = 8\nbatch = 1\nseed = 7\nepochs = 0");
  EXPECT_EQ(config.train.schedule.kind, ScheduleKind::cosine);
  EXPECT_EQ(config.train.schedule.warmup_steps, 10);
  EXPECT_EQ(config.train.schedule.final, 0.1);
  EXPECT_EQ(config.train.loss, Loss::squared_error);
  EXPECT_EQ(config.train.reduction, Reduction::sum);
  EXPECT_EQ(config.train.l2, 0.5);
  EXPECT_EQ(config.train.clip_norm, 1);
  EXPECT_FALSE(config.train.shuffle);
  EXPECT_EQ(config.train.slots, 8);
  EXPECT_EQ(config.train.seed, 7U);
  EXPECT_EQ(config.epochs, 0);
  const Schedule step = with_train("schedule = {name = \"step\", every = 3, factor = 0.5}").train.schedule;
  EXPECT_EQ(step.every, 3);
  EXPECT_EQ(step.factor, 0.5);
  EXPECT_EQ(with_train("loss = \"binary-cross-entropy\"").train.loss, Loss::binary_cross_entropy);
}

TEST(Config, Checkpoints) {
  EXPECT_EQ(with_train("").checkpoint.every_steps, 0);
  EXPECT_EQ(with_train("").checkpoint.every_minutes, 1);
  const RunConfig config = with_train("[checkpoint]\nevery_steps = 250\nevery_minutes = 0.5");
  EXPECT_EQ(config.checkpoint.every_steps, 250);
  EXPECT_EQ(config.checkpoint.every_minutes, 0.5);
}

TEST(Config, EveryKeyOfData) {
  const DataConfig data = with_data(R"(source = "x.csv"
limit = 1
test_limit = 2
test = "t.csv"
labels = "l"
test_labels = "tl"
x_key = "X"
y_key = "Y"
test_x_key = "TX"
test_y_key = "TY"
header = true
label_column = 3
regression = true
stream = true
shape = [1, 20, 20]
transpose = true
resize = {size = 20, method = "bicubic"}
scale = 256
standardise = true
one_hot = true
shuffle = true
split = {train = 0.8, validation = 0.1, test = 0.1}
count = 5
test_count = 6
noise = 0.25
factor = 0.75
classes = 7
features = 8
seed = 9
from = "rank0")")
                              .data;
  EXPECT_EQ(data.limit, 1);
  EXPECT_EQ(data.test_limit, 2);
  EXPECT_EQ(data.test + data.labels + data.test_labels, "t.csvltl");
  EXPECT_EQ(data.x_key + data.y_key + data.test_x_key + data.test_y_key, "XYTXTY");
  EXPECT_EQ(data.header, true);
  EXPECT_EQ(data.label_column, "3");
  EXPECT_TRUE(data.regression && data.stream && data.transpose && data.standardise && data.one_hot && data.shuffle);
  EXPECT_EQ(data.shape, (std::vector<std::int64_t>{1, 20, 20}));
  EXPECT_EQ(data.resize.size, 20);
  EXPECT_EQ(data.resize.method, "bicubic");
  EXPECT_EQ(data.scale, 256);
  EXPECT_EQ(data.split.train, 0.8);
  EXPECT_EQ(data.count, 5);
  EXPECT_EQ(data.test_count, 6);
  EXPECT_EQ(data.noise, 0.25);
  EXPECT_EQ(data.factor, 0.75);
  EXPECT_EQ(data.classes, 7);
  EXPECT_EQ(data.features, 8);
  EXPECT_EQ(data.seed, 9U);
  EXPECT_TRUE(data.from_rank0);
}

TEST(Config, ShortFormsOfData) {
  const DataConfig data =
      with_data("source = \"mnist\"\nsplit = [50000, 10000, 10000]\nresize = 20\nlabel_column = \"y\"").data;
  EXPECT_EQ(data.split.validation, 10000);
  EXPECT_EQ(data.resize.size, 20);
  EXPECT_EQ(data.resize.method, "average");
  EXPECT_EQ(data.label_column, "y");
}

TEST(Config, DataAlone) {
  const DataConfig data = make_data_config("x.npz", {"data.x_key=images", "data.limit=3"});
  EXPECT_EQ(data.source, "x.npz");
  EXPECT_EQ(data.x_key, "images");
  EXPECT_EQ(data.limit, 3);
  EXPECT_THROW(make_data_config("x.npz", {"train.epochs=3"}), Error);
}

TEST(Config, MakesTheNetwork) {
  const RunConfig config = parse_config(kExample, "a.toml");
  const Network network = make_network(config);
  EXPECT_EQ(network.output(), (Shape{10}));
  EXPECT_EQ(network.layers().size(), 5U);
  EXPECT_EQ(network.trainable_count(), 6 * 25 + 6 + 10 * 6 * 14 * 14 + 10);
}

TEST(Config, TheSeedDrawsTheInitialWeights) {
  const auto hash = [](const std::string& seed) {
    return weight_hash(make_network(parse_config(kExample, "a.toml", {"train.seed=" + seed})).values());
  };
  EXPECT_EQ(hash("1"), hash("1"));
  EXPECT_NE(hash("1"), hash("2"));
}

TEST(Config, ALayerThatDoesNotFitIsNamed) {
  try {
    make_network(with_model("input = [1, 4, 4]\nlayers = [\"relu\", {conv2d = {out = 2, kernel = 9}}]"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_TRUE(std::regex_search(error.what(), std::regex(R"(^a\.toml:\d+: model\.layers\[1\]: layer 1 \(conv2d\):)")))
        << error.what();
  }
}

TEST(Config, AFileThatIsNotThere) {
  try {
    load_config("no/such.toml");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("no/such.toml"), std::string::npos);
  }
}

TEST(Config, EveryExampleIsValid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    const RunConfig config = load_config(entry.path().string());
    EXPECT_GT(make_network(config).trainable_count(), 0) << entry.path();
  }
  EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace lockstep
