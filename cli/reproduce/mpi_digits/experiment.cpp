#include "cli/reproduce/mpi_digits/experiment.hpp"

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits/published.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFashionData = R"(# Fashion-MNIST averaged from 28x28 to 20x20, the first 5000 samples.
[data]
source = "fashion-mnist"
limit = 5000
test_limit = 1
resize = {size = 20}
)";

constexpr const char* kTraining = R"(
[model]
sizes = "400-25-10"
activation = "sigmoid"
output = "sigmoid"
precision = "float64"                     # as NumPy computes
init = {name = "uniform", scale = 0.12, biases = true}

[train]
loss = "binary-cross-entropy"             # summed over the ten outputs, averaged over the samples
optimizer = {name = "sgd", lr = 0.1}
batch = "full"
epochs = 60
seed = 1

[checkpoint]
every_minutes = 0
)";

/// A path as a TOML string.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

/// ex4data1.mat: given, or where the data sets of this machine are.
std::optional<std::string> find_digits(const std::string& given) {
  if (!given.empty()) {
    if (!fs::exists(given)) throw Error(ErrorCode::data, fmt::format("--data {}: no such file", one_line(given)));
    return given;
  }
  const auto folder = environment_text("LOCKSTEP_DATA_DIR");
  if (!folder) return std::nullopt;
  for (const char* const name : {"ex4data1.mat", "coursera/ex4data1.mat"})
    if (const fs::path path = fs::path(*folder) / name; fs::exists(path)) return path.string();
  return std::nullopt;
}

/// What of the two is here; the digits first.
std::vector<DigitSource> find_sources(const ExperimentRun& run) {
  std::vector<DigitSource> sources;
  if (const auto digits = find_digits(run.data))
    sources.push_back({"digits", fmt::format("[data]\nsource = {}\n{}", quoted(*digits), kTraining)});
  else
    run.left_out("the 5000 digits", "give ex4data1.mat of the course with --data, or put it into $LOCKSTEP_DATA_DIR");
  try {
    const DigitSource fashion{"fashion", fmt::format("{}{}", kFashionData, kTraining)};
    static_cast<void>(load_data(parse_config(fashion.config, "mpi-digits").data));
    sources.push_back(fashion);
  } catch (const Error& error) {
    run.left_out("Fashion-MNIST at 20x20", error.what());
  }
  if (sources.empty())
    throw Error(ErrorCode::data,
                "mpi-digits: neither ex4data1.mat (--data) nor Fashion-MNIST is here: sudo apt-get install "
                "dataset-fashion-mnist");
  return sources;
}

/// 60 iterations at rate 0.1 from several first weights. Every cost is that before its update.
void train_slowly(const ExperimentRun& run, const DigitSource& source, const DataSplits& data) {
  run.progress(fmt::format("{}: 60 iterations at rate 0.1, five first weights", source.name));
  for (int seed = 1; seed <= 5; ++seed) {
    const RunConfig config = parse_config(source.config, "mpi-digits", {fmt::format("train.seed={}", seed)});
    Network network = make_network(config);
    Trainer trainer(network, config.train);
    TrainingRecord record{.data = source.name};
    trainer.fit(*data.train, {.epochs = digits_published::kIterations, .on_epoch = [&](const EpochReport& report) {
                                record.cost.push_back(report.train.loss);
                                record.precisions.push_back(report.train.accuracy().value_or(0));
                              }});
    record.precision = trainer.evaluate(*data.train).accuracy().value_or(0);
    Result result = line_of("curve", fmt::format("{}: {}, seed {}", kDigitTraining, source.name, seed), record);
    result.seed = static_cast<std::uint64_t>(seed);
    result.weight_hash = weight_hash(network.values());
    result.configuration = resolved_toml(config);
    run.keep(std::move(result));
  }
}

/// Rate 2.0, where the author's notes stop to look.
void train_fast(const ExperimentRun& run, const DigitSource& source, const DataSplits& data) {
  run.progress(fmt::format("{}: 300 iterations at rate 2.0", source.name));
  const RunConfig config = parse_config(source.config, "mpi-digits",
                                        {fmt::format("train.optimizer.lr={:.1f}", digits_published::kFastRate)});
  Network network = make_network(config);
  Trainer trainer(network, config.train);
  FastRecord record{.rate = digits_published::kFastRate};
  int done = 0;
  for (const digits_published::Fast& each : digits_published::kFast) {
    trainer.fit(*data.train, {.epochs = each.iterations - done});
    done = each.iterations;
    record.iterations.push_back(done);
    record.precision.push_back(trainer.evaluate(*data.train).accuracy().value_or(0));
  }
  record.weights = weight_hash(network.values());
  run.record(fmt::format("{}: {}", kDigitFast, source.name), record);
}

void measure_digits(const ExperimentRun& run) {
  const std::vector<DigitSource> sources = find_sources(run);
  for (const DigitSource& source : sources) {
    const DataSplits data = load_data(parse_config(source.config, "mpi-digits").data);
    train_slowly(run, source, data);
    train_fast(run, source, data);
  }
  time_python_loops(run, sources.front());
  time_digit_modes(run, sources.front());
}

}  // namespace

Experiment mpi_digits() {
  return {.name = "mpi-digits",
          .title = "400-25-10 on 5000 digits: sequential, data parallel on ranks, on a device; phase by phase",
          .paper = digits_published::kPaper,
          .time = "about 45 s; with --quick less",
          .config = std::string(kFashionData) + kTraining,
          .data = "ex4data1.mat",
          .measure = measure_digits,
          .claims = digit_claims(),
          .describe = describe_digits};
}

}  // namespace lockstep::cli
