#include <gtest/gtest.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

/// A good configuration, one line per key; line numbers in the messages below count from here.
constexpr const char* kGood = R"([data]
source = "moons"
[model]
input = [1, 8, 8]
layers = ["flatten", {linear = 10}]
[train]
epochs = 2
)";

struct Bad {
  const char* text;      // appended to kGood as line 8, or a whole configuration where it begins with '['
  const char* override;  // or an assignment; empty: none
  const char* message;
};

class BadConfig : public testing::TestWithParam<Bad> {};

TEST_P(BadConfig, IsRefusedInOneLine) {
  const Bad& bad = GetParam();
  const std::string text = bad.text[0] == '[' ? bad.text : std::string(kGood) + bad.text;
  const std::vector<std::string> overrides =
      bad.override[0] != 0 ? std::vector<std::string>{bad.override} : std::vector<std::string>{};
  try {
    make_network(parse_config(text, "a.toml", overrides));
    FAIL() << "accepted: " << bad.text << bad.override;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), bad.message);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

// Unknown names: the nearest known one is offered, here or in another section.
INSTANTIATE_TEST_SUITE_P(
    Names, BadConfig,
    testing::Values(
        Bad{"epoch = 3", "", "a.toml:8: train.epoch: unknown key; did you mean train.epochs?"},
        Bad{"optimiser = \"adam\"", "", "a.toml:8: train.optimiser: unknown key; did you mean train.optimizer?"},
        Bad{"precision = \"float64\"", "", "a.toml:8: train.precision: unknown key; did you mean model.precision?"},
        Bad{"zebra = 1", "",
            "a.toml:8: train.zebra: unknown key; train has loss, label_smoothing, focal_gamma, huber_delta, optimizer, "
            "schedule, batch, slots, reduction, class_weights, l2, clip_norm, truncate, average, frozen, shuffle, "
            "epochs, "
            "metrics, early_stopping, seed"},
        Bad{"", "train.bacth=3", "--set train.bacth=3: train.bacth: unknown key; did you mean train.batch?"},
        Bad{"", "data.standardize=true",
            "--set data.standardize=true: data.standardize: unknown key; did you mean data.standardise?"},
        Bad{"[trian]\nepochs = 1", "", "a.toml:1: trian: unknown section; did you mean train?"},
        Bad{"[data]\nsource = \"moons\"\n[train.data]\n[epochs]", "",
            "a.toml:4: epochs: stands outside the sections; did you mean train.epochs?"},
        Bad{"[data]\nsource = \"moons\"\n[xyzzy]", "",
            "a.toml:3: xyzzy: unknown section; a configuration has data, model, train, checkpoint, log, guard, "
            "parallel"},
        Bad{"", "trian.epochs=3", "--set trian.epochs=3: trian: unknown section; did you mean train?"},
        Bad{"loss = \"crossentropy\"", "",
            "a.toml:8: train.loss: unknown name \"crossentropy\"; did you mean cross-entropy?"},
        Bad{"loss = \"hinge\"", "",
            "a.toml:8: train.loss: unknown name \"hinge\"; known are cross-entropy, binary-cross-entropy, "
            "squared-error, focal, huber"},
        Bad{"optimizer = \"adan\"", "", "a.toml:8: train.optimizer: unknown name \"adan\"; did you mean adam?"},
        Bad{"optimizer = {name = \"rmspop\"}", "",
            "a.toml:8: train.optimizer.name: unknown name \"rmspop\"; did you mean rmsprop?"},
        Bad{"optimizer = {lr = 1, rho = 0.9}", "",
            "a.toml:8: train.optimizer.name: missing; one of sgd, momentum, nesterov, adam, adamw, rmsprop, lion"},
        Bad{"optimizer = {name = \"sgd\", momentum = 0.9}", "",
            "a.toml:8: train.optimizer.momentum: \"sgd\" has none; write name = \"momentum\" or \"nesterov\""},
        Bad{"optimizer = {name = \"adam\", beta = 0.9}", "",
            "a.toml:8: train.optimizer.beta: unknown key; did you mean train.optimizer.beta1?"},
        Bad{"optimizer = {name = \"adam\", weight_decay = 0.9}", "",
            "a.toml:8: train.optimizer.weight_decay: unknown key; train.optimizer has name, lr, beta1, beta2, eps"},
        Bad{"schedule = \"linear\"", "",
            "a.toml:8: train.schedule: unknown name \"linear\"; known are constant, step, cosine, one-cycle, "
            "plateau"},
        Bad{"schedule = {name = \"plateau\", metric = \"f2\"}", "",
            "a.toml:8: train.schedule.metric: unknown metric \"f2\"; there are loss, accuracy, top-K, precision, "
            "recall, "
            "f1, auc, mae, rmse, r2, perplexity, bits"},
        Bad{"metrics = [\"f1\", \"top-x\"]", "",
            "a.toml:8: train.metrics[1]: unknown metric \"top-x\"; there are loss, accuracy, top-K, precision, recall, "
            "f1, "
            "auc, mae, rmse, r2, perplexity, bits"},
        Bad{"metrics = [\"f1\", \"f1\"]", "", "a.toml:8: train.metrics[1]: stands there twice"},
        Bad{"early_stopping = {metric = \"loss\"}", "",
            "a.toml:8: train.early_stopping.patience: missing; the epochs to wait for a gain, for example 10"},
        Bad{"early_stopping = -1", "", "a.toml:8: train.early_stopping: must be from 0 to 1000000000, got -1"},
        Bad{"average = \"mean\"", "", "a.toml:8: train.average: unknown name \"mean\"; known are none, ema, swa"},
        Bad{"average = {name = \"ema\", decay = 1}", "",
            "a.toml:8: train.average.decay: must be above 0 and below 1, got 1"},
        Bad{"average = {name = \"swa\", decay = 0.9}", "",
            "a.toml:8: train.average.decay: unknown key; train.average has name, from"},
        Bad{"focal_gamma = 9", "", "a.toml:8: train.focal_gamma: must be from 1 to 8, got 9"},
        Bad{"class_weights = []", "",
            "a.toml:8: train.class_weights: has no numbers; give one per class, or \"balanced\""},
        Bad{"schedule = {name = \"cosine\", every = 3}", "",
            "a.toml:8: train.schedule.every: unknown key; train.schedule has name, warmup_steps, final"},
        Bad{"", "model.init=xavier",
            "--set model.init=xavier: model.init: unknown name \"xavier\"; known are uniform, normal, "
            "xavier-uniform, xavier-normal, fan-in-uniform, he-uniform, he-normal, zeros, constant, sinusoidal"},
        Bad{"", "model.precision=float16",
            "--set model.precision=float16: model.precision: unknown name \"float16\"; did you mean float32?"}));

INSTANTIATE_TEST_SUITE_P(
    Checkpoint, BadConfig,
    testing::Values(
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-1\"\n[checkpoint]\nevery_step = 3", "",
            "a.toml:6: checkpoint.every_step: unknown key; did you mean checkpoint.every_steps?"},
        Bad{"every_steps = 3", "", "a.toml:8: train.every_steps: unknown key; did you mean checkpoint.every_steps?"},
        Bad{"", "checkpoint.every_steps=-1",
            "--set checkpoint.every_steps=-1: checkpoint.every_steps: must be from 0 to 1000000000000, got -1"},
        Bad{"", "checkpoint.every_steps=1.5",
            "--set checkpoint.every_steps=1.5: checkpoint.every_steps: must be a whole number from 0 to 1000000000000, "
            "not a number: 1.5"},
        Bad{"", "checkpoint.every_minutes=-0.5",
            "--set checkpoint.every_minutes=-0.5: checkpoint.every_minutes: must be at least 0 and at most 1000000, "
            "got -0.5"},
        Bad{"", "checkpoint.every_minutes=inf",
            "--set checkpoint.every_minutes=inf: checkpoint.every_minutes: must be at least 0 and at most 1000000, got "
            "inf"},
        Bad{"", "checkpoint.every_minutes=often",
            "--set checkpoint.every_minutes=often: checkpoint.every_minutes: must be a number at least 0 and at most "
            "1000000, not a "
            "string: \"often\""},
        Bad{"", "parallel.reduce=ring",
            "--set parallel.reduce=ring: parallel.reduce: unknown name \"ring\"; known are tree, gather, mpi"},
        Bad{"", "checkpoint=3",
            "--set checkpoint=3: write --set section.key=value, for example --set train.epochs=3"}));

INSTANTIATE_TEST_SUITE_P(
    Layers, BadConfig,
    testing::Values(
        Bad{"", "model.layers=[\"rellu\"]",
            "--set model.layers=[\"rellu\"]: model.layers[0]: unknown layer \"rellu\"; did you mean relu?"},
        Bad{"", "model.layers=[{cnv2d = 3}]",
            "--set model.layers=[{cnv2d = 3}]: model.layers[0]: unknown layer \"cnv2d\"; did you mean conv2d?"},
        Bad{"", "model.layers=[\"linear\"]",
            "--set model.layers=[\"linear\"]: model.layers[0]: \"linear\" needs options, as {linear = 10}"},
        Bad{"", "model.layers=[{linear = 0}]",
            "--set model.layers=[{linear = 0}]: model.layers[0].linear: must be from 1 to 16777216, got 0"},
        Bad{"", "model.layers=[{linear = {units = 3}}]",
            "--set model.layers=[{linear = {units = 3}}]: model.layers[0].linear.units: unknown key; did you mean "
            "model.layers[0].linear.out?"},
        Bad{"", "model.layers=[{linear = {bias = true}}]",
            "--set model.layers=[{linear = {bias = true}}]: model.layers[0].linear.out: missing; the number of "
            "outputs"},
        Bad{"", "model.layers=[{linear = 3, relu = 1}]",
            "--set model.layers=[{linear = 3, relu = 1}]: model.layers[0]: a layer is a name or a table with one key, "
            "as \"relu\" or {linear = 10}, not {linear = 3, relu = 1}"},
        Bad{"", "model.layers=[3]",
            "--set model.layers=[3]: model.layers[0]: a layer is a name or a table with one key, as \"relu\" or "
            "{linear = 10}, not 3"},
        Bad{"", "model.layers=[]", "--set model.layers=[]: model.layers: has no layers"},
        Bad{"", "model.layers=relu", "--set model.layers=relu: model.layers: must be a list, not a string: \"relu\""},
        Bad{"", "model.layers=[{relu = 3}]",
            "--set model.layers=[{relu = 3}]: model.layers[0].relu: takes no options: write its name alone, as a "
            "string"},
        Bad{"", "model.layers=[{conv2d = 3}]",
            "--set model.layers=[{conv2d = 3}]: model.layers[0].conv2d: must be a table with out, kernel, stride, pad, "
            "dilation, groups, bias, init, not a whole number: 3"},
        Bad{"", "model.layers=[{conv2d = {out = 3}}]",
            "--set model.layers=[{conv2d = {out = 3}}]: model.layers[0].conv2d.kernel: missing; the size of the "
            "window, for example 3 or [3, 5]"},
        Bad{"", "model.layers=[{conv2d = {out = 3, kernel = [1, 2, 3]}}]",
            "--set model.layers=[{conv2d = {out = 3, kernel = [1, 2, 3]}}]: model.layers[0].conv2d.kernel: must be one "
            "number or [height, width], not 3 numbers"},
        Bad{"", "model.layers=[{conv2d = {out = 3, kernel = 3, stride = 0}}]",
            "--set model.layers=[{conv2d = {out = 3, kernel = 3, stride = 0}}]: model.layers[0].conv2d.stride: must be "
            "from 1 to 4096, got 0"},
        Bad{"", "model.layers=[{conv2d = {out = 3, kernel = 3, padding = 1}}]",
            "--set model.layers=[{conv2d = {out = 3, kernel = 3, padding = 1}}]: model.layers[0].conv2d.padding: "
            "unknown key; did you mean model.layers[0].conv2d.pad?"},
        Bad{"", "model.layers=[{max_pool2d = 0}]",
            "--set model.layers=[{max_pool2d = 0}]: model.layers[0].max_pool2d: must be from 1 to 4096, got 0"},
        Bad{"", "model.layers=[{dropout = 1}]",
            "--set model.layers=[{dropout = 1}]: model.layers[0].dropout: must be at least 0 and below 1, got 1"},
        Bad{"", "model.layers=[{leaky_relu = -0.1}]",
            "--set model.layers=[{leaky_relu = -0.1}]: model.layers[0].leaky_relu: must be at least 0 and below 1, got "
            "-0.1"},
        Bad{"", "model.layers=[{sigmoid = nan}]",
            "--set model.layers=[{sigmoid = nan}]: model.layers[0].sigmoid: must be above 0, got nan"},
        Bad{"", "model.layers=[{batch_norm = {eps = 0}}]",
            "--set model.layers=[{batch_norm = {eps = 0}}]: model.layers[0].batch_norm.eps: must be above 0, got 0"},
        Bad{"", "model.layers=[{residual = {body = []}}]",
            "--set model.layers=[{residual = {body = []}}]: model.layers[0].residual.body: has no layers"},
        Bad{"", "model.layers=[{residual = {}}]",
            "--set model.layers=[{residual = {}}]: model.layers[0].residual.body: missing; the list of layers whose "
            "result is added to the input"}));

INSTANTIATE_TEST_SUITE_P(
    Model, BadConfig,
    testing::Values(
        Bad{"[data]\nsource = \"moons\"", "",
            "a.toml: model.layers: missing; give model.layers, or model.sizes as \"784-128-10\""},
        Bad{"[data]\nsource = \"moons\"\n[model]\nlayers = [\"relu\"]", "",
            "a.toml:3: model.input: missing; the shape of one sample, for example [1, 28, 28]"},
        Bad{"", "model.input=[]",
            "--set model.input=[]: model.input: must have 1 to 3 extents: [features] or [channels, height, width]"},
        Bad{"", "model.input=[1, 2, 3, 4]",
            "--set model.input=[1, 2, 3, 4]: model.input: must have 1 to 3 extents: [features] or [channels, height, "
            "width]"},
        Bad{"", "model.input=[1, -8, 8]",
            "--set model.input=[1, -8, 8]: model.input[1]: must be from 1 to 16777216, got -8"},
        Bad{"", "model.input=[16777216, 16777216, 2]",
            "--set model.input=[16777216, 16777216, 2]: model.input: has more than 16777216 elements"},
        Bad{"", "model.input=\"28x28\"",
            "--set model.input=\"28x28\": model.input: must be a whole number from 1 to 16777216, not a string: "
            "\"28x28\""},
        Bad{"", "model.sizes=2-3",
            "--set model.sizes=2-3: model.sizes: give either model.sizes or model.layers, not both"},
        Bad{"", "model.output=softmax",
            "--set model.output=softmax: model.output: belongs to model.sizes; put the layer into model.layers"},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-x-1\"", "",
            "a.toml:4: model.sizes: must be whole numbers from 1 to 16777216 joined by '-', as \"784-128-10\", got "
            "\"2-x-1\""},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2,1\"", "",
            "a.toml:4: model.sizes: the numbers are joined by '-', as \"784-128-10\", got \"2,1\""},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-\"", "",
            "a.toml:4: model.sizes: must be whole numbers from 1 to 16777216 joined by '-', as \"784-128-10\", got "
            "\"2-\""},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"784\"", "",
            "a.toml:4: model.sizes: must have 2 to 256 sizes, from input to output, got 1"},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-0-1\"", "",
            "a.toml:4: model.sizes: must be whole numbers from 1 to 16777216 joined by '-', as \"784-128-10\", got "
            "\"2-0-1\""},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"3-1\"\ninput = [2]", "",
            "a.toml:4: model.sizes: begins with 3, but model.input [2] has 2 elements"},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-1-1\"\nactivation = \"rely\"", "",
            "a.toml:5: model.activation: unknown layer \"rely\"; did you mean relu?"},
        Bad{"", "model.init=uniform",
            "--set model.init=uniform: model.init.scale: missing; \"uniform\" needs one, as {name = \"uniform\", scale "
            "= 0.12}"},
        Bad{"", "model.init={name = \"he-normal\", scale = 1}",
            "--set model.init={name = \"he-normal\", scale = 1}: model.init.scale: unknown key; model.init has name, "
            "biases"},
        Bad{"", "model.init=3",
            "--set model.init=3: model.init: must be one of uniform, normal, xavier-uniform, xavier-normal, "
            "fan-in-uniform, he-uniform, he-normal, zeros, constant, sinusoidal, not a whole number: 3"}));

INSTANTIATE_TEST_SUITE_P(
    Data, BadConfig,
    testing::Values(
        Bad{"[model]\nsizes = \"2-1\"", "",
            "a.toml: data.source: missing; for example \"fashion-mnist\", \"moons\" or a file"},
        Bad{"[data]\n[model]\nsizes = \"2-1\"", "",
            "a.toml:1: data.source: missing; for example \"fashion-mnist\", \"moons\" or a file"},
        Bad{"", "data.source=\"\"",
            "--set data.source=\"\": data.source: is empty; for example \"fashion-mnist\", \"moons\" or a file"},
        Bad{"", "data.source=3", "--set data.source=3: data.source: must be a string, not a whole number: 3"},
        Bad{"", "data.limit=-1", "--set data.limit=-1: data.limit: must be at least 0, got -1"},
        Bad{"", "data.limit=2.5",
            "--set data.limit=2.5: data.limit: must be a whole number at least 0, not a number: 2.5"},
        Bad{"", "data.scale=0", "--set data.scale=0: data.scale: must be above 0, got 0"},
        Bad{"", "data.noise=-0.1", "--set data.noise=-0.1: data.noise: must be at least 0, got -0.1"},
        Bad{"", "data.noise=inf", "--set data.noise=inf: data.noise: must be at least 0, got inf"},
        Bad{"", "data.factor=1", "--set data.factor=1: data.factor: must be above 0 and below 1, got 1"},
        Bad{"", "data.header=maybe",
            "--set data.header=maybe: data.header: must be true or false, not a string: \"maybe\""},
        Bad{"", "data.shape=[]", "--set data.shape=[]: data.shape: must have 1 to 3 extents, for example [1, 28, 28]"},
        Bad{"", "data.shape=[1, 0]", "--set data.shape=[1, 0]: data.shape[1]: must be from 1 to 4294967296, got 0"},
        Bad{"", "data.resize={size = 20, method = \"nearest\"}",
            "--set data.resize={size = 20, method = \"nearest\"}: data.resize.method: unknown name \"nearest\"; known "
            "are average, bicubic"},
        Bad{"", "data.resize={method = \"average\"}",
            "--set data.resize={method = \"average\"}: data.resize.size: missing; the new height and width, for "
            "example 20"},
        Bad{"", "data.split=[1, 2]",
            "--set data.split=[1, 2]: data.split: must have 3 numbers, train, validation, test, not 2"},
        Bad{"", "data.split={train = 0.8, validation = 0.3}",
            "--set data.split={train = 0.8, validation = 0.3}: data.split: the fractions must not exceed 1 together, "
            "got 1.1"},
        Bad{"", "data.split={train = 10.5}",
            "--set data.split={train = 10.5}: data.split.train: must be a fraction below 1 or a whole number of "
            "samples, got 10.5"},
        Bad{"", "data.split={valid = 10}",
            "--set data.split={valid = 10}: data.split.valid: unknown key; data.split has train, validation, test"},
        Bad{"", "data.seed=-1", "--set data.seed=-1: data.seed: must be at least 0, got -1"}));

INSTANTIATE_TEST_SUITE_P(
    Train, BadConfig,
    testing::Values(
        Bad{"batch = 0", "", "a.toml:8: train.batch: must be from 1 to 1000000000, got 0"},
        Bad{"batch = \"all\"", "",
            "a.toml:8: train.batch: must be \"full\" or a whole number from 1 to 1000000000, got \"all\""},
        Bad{"slots = 3", "", "a.toml:8: train.slots: must be \"auto\" or a power of two up to 4096, got 3"},
        Bad{"slots = 8192", "", "a.toml:8: train.slots: must be from 1 to 4096, got 8192"},
        Bad{"slots = \"machine\"", "",
            "a.toml:8: train.slots: must be \"auto\" or a whole number from 1 to 4096, got \"machine\""},
        Bad{"", "train.epochs=-1", "--set train.epochs=-1: train.epochs: must be from 0 to 1000000000, got -1"},
        Bad{"", "train.epochs=many",
            "--set train.epochs=many: train.epochs: must be a whole number from 0 to 1000000000, not a string: "
            "\"many\""},
        Bad{"", "train.epochs=2000-01-01",
            "--set train.epochs=2000-01-01: train.epochs: must be a whole number from 0 to 1000000000, not a string: "
            "\"2000-01-01\""},
        Bad{"seed = 2000-01-01", "",
            "a.toml:8: train.seed: must be a whole number at least 0, not a date or time: 2000-01-01"},
        Bad{"optimizer = {name = \"sgd\", lr = 0}", "", "a.toml:8: train.optimizer.lr: must be above 0, got 0"},
        Bad{"optimizer = {name = \"sgd\", lr = \"fast\"}", "",
            "a.toml:8: train.optimizer.lr: must be a number above 0, not a string: \"fast\""},
        Bad{"optimizer = {name = \"momentum\", momentum = 1}", "",
            "a.toml:8: train.optimizer.momentum: must be above 0 and below 1, got 1"},
        Bad{"optimizer = {name = \"adam\", beta1 = 1.0}", "",
            "a.toml:8: train.optimizer.beta1: must be at least 0 and below 1, got 1"},
        Bad{"optimizer = 3", "",
            "a.toml:8: train.optimizer: must be one of sgd, momentum, nesterov, adam, adamw, rmsprop, lion, not a "
            "whole "
            "number: 3"},
        Bad{"schedule = {name = \"step\", every = 0}", "",
            "a.toml:8: train.schedule.every: must be from 1 to 1000000000, got 0"},
        Bad{"schedule = {name = \"step\", factor = 2}", "",
            "a.toml:8: train.schedule.factor: must be above 0 and at most 1, got 2"},
        Bad{"schedule = {name = \"cosine\", warmup_steps = -1}", "",
            "a.toml:8: train.schedule.warmup_steps: must be from 0 to 1000000000, got -1"},
        Bad{"reduction = \"max\"", "", "a.toml:8: train.reduction: unknown name \"max\"; known are mean, sum"},
        Bad{"l2 = -1", "", "a.toml:8: train.l2: must be at least 0, got -1"},
        Bad{"clip_norm = nan", "", "a.toml:8: train.clip_norm: must be at least 0, got nan"},
        Bad{"shuffle = 1", "", "a.toml:8: train.shuffle: must be true or false, not a whole number: 1"},
        Bad{"", "train=3", "--set train=3: write --set section.key=value, for example --set train.epochs=3"},
        Bad{"[data]\nsource = \"moons\"\n[model]\nsizes = \"2-1\"\n[[train]]", "",
            "a.toml:5: train: must be a table with loss, label_smoothing, focal_gamma, huber_delta, optimizer, "
            "schedule, batch, "
            "slots, reduction, class_weights, l2, clip_norm, truncate, average, frozen, shuffle, epochs, metrics, "
            "early_stopping, seed, "
            "not a "
            "list: [{}]"}));

}  // namespace
}  // namespace lockstep
