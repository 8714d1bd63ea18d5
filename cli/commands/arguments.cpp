#include "cli/commands/arguments.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/bench/bench.hpp"
#include "cli/commands/arguments_lab.hpp"
#include "cli/commands/eval.hpp"
#include "cli/commands/export.hpp"
#include "cli/commands/inspect.hpp"
#include "cli/commands/launch.hpp"
#include "cli/commands/predict.hpp"
#include "cli/commands/report.hpp"
#include "cli/commands/train.hpp"
#include "cli/output/number_range.hpp"
#include "cli/reproduce/reproduce.hpp"
#include "cli/simulate/simulate.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

namespace {

constexpr const char* kDescription =
    "Lockstep trains neural networks; the trained weights are the same bits on any number of ranks, threads and "
    "SIMD lanes.";

constexpr const char* kExamples = R"(Examples:
  lockstep train examples/moons.toml
  lockstep train examples/lenet5-fashion.toml --set data.limit=5000 --set train.epochs=2 --out runs/small
  lockstep eval runs/small/model.safetensors
  lockstep predict runs/small/model.safetensors --rows 0-4
  lockstep inspect runs/small/model.safetensors
  lockstep export runs/small/model.safetensors small.onnx
  lockstep bench lenet5
  lockstep reproduce cuda-quadrants --quick
  lockstep report runs/small
  lockstep ladder examples/lenet5-fashion.toml
  mpirun -n 4 lockstep train examples/lenet5-fashion.toml --threads 1
  lockstep launch -n 4 train examples/lenet5-fashion.toml --threads 1 --out runs/four

Exit codes: 0 done, 1 a fault of Lockstep, 2 command line or configuration, 3 input data, 4 model or checkpoint
unusable, 5 out of disk, memory or a limit, 6 run directory in use, 7 a rank is lost, 8 diverged, 10 stopped by a
signal and saved.)";

/// What the options of all commands write into.
struct Values {
  ConsoleOptions console{};
  std::string backend = "simd";
  TrainArguments train{};
  EvalArguments eval{};
  PredictArguments predict{};
  InspectArguments inspect{};
  ExportArguments exporting{};
  BenchArguments bench{};
  LaunchArguments launch{};
  ReproduceArguments reproduce{};
  ReportArguments report{};
  LabCommands lab{};
  SimulateArguments simulate{};
};

Backend backend_of(const std::string& name) {
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ExitCode::usage, fmt::format("--backend {}: unknown name{}", name, suggestion(name, names)));
  return static_cast<Backend>(found - names.begin());
}

CLI::App* add_command(CLI::App& app, Values& values, const char* name, const char* what, const char* examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(examples);
  command->add_flag("--json", values.console.json, "Print the result as JSON on stdout, and nothing else there");
  command->add_flag("-q,--quiet", values.console.quiet, "No progress and no notes on stderr; errors only");
  return command;
}

void add_set(CLI::App* command, std::vector<std::string>& set) {
  command->add_option("--set", set, "Change a value of the configuration; may be repeated")
      ->option_text("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

void add_backend(CLI::App* command, Values& values) {
  command
      ->add_option(
          "--backend", values.backend,
          fmt::format("Which kernels compute: {}. opencl and cuda run on a device. The result does not depend on it, "
                      "save that libraries round otherwise",
                      fmt::join(backend_names(), ", ")))
      ->option_text("NAME");
}

void add_threads(CLI::App* command, int& threads) {
  command
      ->add_option("--threads", threads,
                   "How many threads compute (not on a device); default: OMP_NUM_THREADS, else all cores")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxThreads));
}

void add_verbose(CLI::App* command, bool& verbose) {
  command->add_flag("--verbose", verbose, "Say on stderr which kernels compute and on which processors");
}

void add_data(CLI::App* command, DataArguments& data) {
  command
      ->add_option("--data", data.data,
                   "Which data: a name or a file, as data.source; default: config.toml beside the model")
      ->option_text("SOURCE");
  command->add_option("--config", data.config, "Which data: the [data] section of this configuration")
      ->option_text("FILE.toml");
  command->add_option("--split", data.split, "train, validation or test; default: the last of them that there is")
      ->option_text("PART");
  add_set(command, data.set);
}

void add_train(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "train", "Train the network that a configuration describes", R"(Examples:
  lockstep train examples/moons.toml
  lockstep train examples/lenet5-fashion.toml --set train.optimizer.lr=0.01 --set model.precision=float64
  lockstep train my.toml --out runs/try --overwrite --json --quiet
  lockstep train my.toml --out runs/try --resume

The run directory holds config.toml (everything resolved: training it again gives the same weights),
metrics.jsonl, timings.jsonl, the two last checkpoints (checkpoint.every_minutes, checkpoint.every_steps) and
model.safetensors, machine.json and report.html; with --profile also profile.json and trace.json.)");
  RunOptions& train = values.train.options;
  command->add_option("config", values.train.config, "The configuration")->option_text("CONFIG.toml")->required();
  add_set(command, train.set);
  add_backend(command, values);
  add_threads(command, train.threads);
  add_verbose(command, train.verbose);
  command->add_flag("--profile", train.profile,
                    "Tell where the time went: a table, profile.json, and trace.json for ui.perfetto.dev");
  command->add_option("-o,--out", train.out, "The run directory; default: runs/<config>-<n>")->option_text("DIR");
  command->add_flag("--overwrite", train.overwrite, "Replace an earlier run in --out");
  command->add_flag("--resume", train.resume,
                    "Go on with the run in --out from its last checkpoint: the result is that of a run never stopped");
}

void add_eval(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "eval", "Loss, accuracy and confusion matrix of a model", R"(Examples:
  lockstep eval runs/moons-1/model.safetensors
  lockstep eval model.safetensors --data mnist --split test
  lockstep eval model.safetensors --data more.csv --set data.label_column=class)");
  command->add_option("model", values.eval.model, "The model")->option_text("MODEL.safetensors")->required();
  add_data(command, values.eval.data);
  add_backend(command, values);
  add_threads(command, values.eval.threads);
  add_verbose(command, values.eval.verbose);
}

void add_predict(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "predict", "Classes with probabilities for pictures, arrays or rows", R"(Examples:
  lockstep predict model.safetensors digit.png --invert
  lockstep predict model.safetensors batch.npy --top 1
  lockstep predict runs/moons-1/model.safetensors --rows 0,5,7-9

Pictures are turned grey (or RGB), resized to the model's input and scaled as its training data. An .npy file holds
one sample or [samples, ...]; bytes are treated as pixels.)");
  PredictArguments& predict = values.predict;
  command->add_option("model", predict.model, "The model")->option_text("MODEL.safetensors")->required();
  command->add_option("files", predict.files, "Pictures (.png) or arrays (.npy); none: rows of the data")
      ->option_text("FILE...");
  add_data(command, predict.data);
  command->add_option("--rows", predict.rows, "Rows of the data; default: the first ten")->option_text("0,5,7-9");
  command->add_option("--top", predict.top, "Classes to show for each sample; default: 3")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--invert", predict.picture.invert, "The picture is dark on light: swap black and white");
  command->add_flag("--transpose", predict.picture.transpose,
                    "Swap height and width: for models of columns-first images");
  add_backend(command, values);
  add_threads(command, predict.threads);
}

void add_inspect(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "inspect", "What is in a model, a configuration or a data file", R"(Examples:
  lockstep inspect runs/moons-1/model.safetensors
  lockstep inspect examples/lenet5-fashion.toml --set model.precision=float64
  lockstep inspect train-images-idx3-ubyte.gz ex4data1.mat points.csv digits/)");
  command
      ->add_option("files", values.inspect.files,
                   "Models, checkpoints, run directories, .toml, IDX, .mat, .npy, .npz, .csv, .png, folders of images")
      ->option_text("FILE...")
      ->required();
  add_set(command, values.inspect.set);
}

void add_export(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "export", "Write a model for other programs", R"(Examples:
  lockstep export model.safetensors model.onnx         the network, for ONNX runtimes
  lockstep export model.safetensors weights.npz        arrays for NumPy
  lockstep export model.safetensors weights.mat        Theta1, Theta2, ... for MATLAB; linear layers only
  lockstep export model.safetensors plain.safetensors  the weights alone)");
  command->add_option("model", values.exporting.model, "The model")->option_text("MODEL.safetensors")->required();
  command->add_option("out", values.exporting.out, "The file to write")
      ->option_text("OUT.{onnx,npz,mat,safetensors}")
      ->required();
  command->add_flag("--overwrite", values.exporting.overwrite, "Replace OUT where it exists");
}

void add_bench(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "bench", "Measure this machine, and every kernel of the example networks", R"(Examples:
  lockstep bench                            all of it, one to two minutes
  lockstep bench machine                    the machine only: multiply-adds, memory, OpenBLAS
  lockstep bench lenet5 --quick             one network: mlp, mlp-wide, lenet5, bn-cnn, digits, image
  lockstep bench conv2d --backend naive     one kind of kernel, one backend
  lockstep bench mlp --backend opencl       kernels on a device, by its own clock
  lockstep bench max                        the classic exercises, from interpreted Python to a device: max, xxt)");
  BenchArguments& bench = values.bench;
  command->add_option("name", bench.name, "A network, a part of a kernel's name, max or xxt; default: every network")
      ->option_text("NAME");
  command
      ->add_option("--backend", bench.backends,
                   fmt::format("Only these kernels; may be repeated: {}; default: all but those of devices",
                               fmt::join(backend_names(), ", ")))
      ->option_text("NAME")
      ->allow_extra_args(false);
  command->add_option("--threads", bench.threads, "Of the machine's second column; default: all cores")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxThreads));
  command->add_flag("--quick", bench.quick, "Shorter measurements: a first impression");
}

void add_launch(CLI::App& app, Values& values) {
  CLI::App* command = app.add_subcommand("launch", "Train on several ranks, and go on by itself when one is lost");
  command->footer(R"(Examples:
  lockstep launch -n 4 train my.toml --out runs/try
  lockstep launch -n 16 --hosts hosts.txt train my.toml --out runs/try --threads 2

It starts mpirun. When a rank or a host is lost, it starts it again from the last checkpoint, on the hosts that answer:
the result is that of a run that lost none. SIGTERM and Ctrl-C save the run and end it with exit code 10.
What follows train is the command line of lockstep train, and must have --out.)");
  LaunchArguments& launch = values.launch;
  command->add_flag("-q,--quiet", values.console.quiet, "Do not say what is started; train has a --quiet of its own");
  command->add_option("-n,--ranks", launch.ranks, "How many ranks")
      ->option_text("N")
      ->required()
      ->check(CLI::Range(1, 65536));
  command->add_option("--hosts", launch.hosts, "A host per line: name slots=4, or name:4; default: this machine")
      ->option_text("FILE");
  command->add_option("--max-restarts", launch.max_restarts, "How often it may start again; default: 3")
      ->option_text("R")
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--mpi", launch.mpi, "openmpi or mpich; default: what is installed, Open MPI first")
      ->option_text("NAME")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  command->add_option("--bind-to", launch.bind_to, "To what mpirun binds ranks: core, socket, ...; default: none")
      ->option_text("WHAT");
  command->add_option("--agent", launch.agent, "What starts commands on other hosts; default: ssh")
      ->option_text("PROGRAM");
  command->add_option("--interface", launch.interface, "The network between the hosts, as eth0; default: all of them")
      ->option_text("NAME");
  command->prefix_command();  // the rest is not ours
}

void add_reproduce(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "reproduce", "Repeat a published experiment, its figures beside ours",
                                  R"(Examples:
  lockstep reproduce                        the experiments, what they show and how long they take
  lockstep reproduce cuda-quadrants --quick
  lockstep reproduce mpi-digits --data ex4data1.mat --out runs/digits
  lockstep reproduce --from runs/digits     the report again, from its results

The run directory holds config.toml (the set-up), results.jsonl (every measurement) and report.html.)");
  ReproduceArguments& reproduce = values.reproduce;
  command->add_option("name", reproduce.name, "The experiment; default: list them")->option_text("NAME");
  command->add_flag("--quick", reproduce.quick, "About a minute: fewer repetitions and wider intervals");
  command->add_option("--data", reproduce.data, "A data file of the experiment, where it needs one")
      ->option_text("FILE");
  command->add_option("-o,--out", reproduce.out, "The run directory; default: runs/<name>-<n>")->option_text("DIR");
  command->add_option("--from", reproduce.from, "Make the report of this run again; nothing is measured")
      ->option_text("DIR");
  command->add_option("--rank-runs", reproduce.rank_runs)->group("")->check(CLI::Range(1, 1000));  // run_conv_rank
  command->add_flag("--overwrite", reproduce.overwrite, "Replace an earlier run in --out");
}

void add_report(CLI::App& app, Values& values) {
  CLI::App* command = add_command(app, values, "report",
                                  "Make the report of a run or of measurements again, without measuring", R"(Examples:
  lockstep report runs/moons-1                  report.html in the run directory
  lockstep report runs/ladder --csv --extra-p   every table as .csv, scaling tables as Extra-P's JSON lines
  lockstep report results.jsonl --out page)");
  ReportArguments& report = values.report;
  command->add_option("path", report.path, "A run directory, a folder with results.jsonl, or such a file")
      ->option_text("DIR|FILE")
      ->required();
  command->add_option("-o,--out", report.out, "Where the files go; default: beside what they are made from")
      ->option_text("DIR");
  command->add_flag("--csv", report.csv, "Write every table as .csv too");
  command->add_flag("--extra-p", report.extra_p, "Write tables of scaling as JSON lines for Extra-P too");
}

void add_simulate(CLI::App& app, Values& values) {
  CLI::App* command =
      add_command(app, values, "simulate", "How training would scale on a cluster: simulated", R"(Examples:
  lockstep simulate examples/lenet5-fashion.toml --set train.batch=1024
  lockstep simulate my.toml --nodes 1,2,4,...,256 --network dragonfly --bandwidth 200Gbit/s --latency 500ns
  lockstep simulate my.toml --nodes 16 --way tree --way mpi --scaling weak --out simulated
  lockstep simulate my.toml --validate --nodes 2,4      against real ranks on this machine

Needs SimGrid (libsimgrid-dev). Every node has one rank with one thread, as fast as a core of this machine.)");
  SimulateArguments& simulate = values.simulate;
  command->add_option("config", simulate.config, "The configuration; its data are not loaded")
      ->option_text("CONFIG.toml")
      ->required();
  add_set(command, simulate.set);
  command->add_option("--nodes", simulate.nodes, "How many nodes; default: 1,2,4,...,64, with --validate 2,4")
      ->option_text("N,...");
  command->add_option("--network", simulate.network, "fat-tree, dragonfly or star; default: fat-tree")
      ->option_text("NAME");
  command
      ->add_option("--bandwidth", simulate.bandwidth, "Of every link; default: 100Gbit/s, with --validate as measured")
      ->option_text("RATE");
  command->add_option("--latency", simulate.latency, "Of every link; default: 1us, with --validate as measured")
      ->option_text("TIME");
  command->add_option("--scaling", simulate.scaling, "strong or weak; may be repeated; default: both")
      ->option_text("KIND")
      ->allow_extra_args(false);
  command
      ->add_option("--way", simulate.series,
                   "How nodes share the work: tree, gather, mpi, tensor, pipeline; may be repeated; default: all")
      ->option_text("WAY")
      ->allow_extra_args(false);
  command->add_option("--parts", simulate.parts, "The most nodes that share one network (tensor, pipeline); default: 4")
      ->option_text("N")
      ->check(CLI::Range(2, 64));
  command->add_option("--timeout", simulate.timeout, "Seconds for each simulation; default: 120")
      ->option_text("S")
      ->check(number_between(1, 86400));
  command->add_option("--rates", simulate.rates, "Computing times of one core: read from the file, or written to it")
      ->option_text("FILE");
  command->add_option("-o,--out", simulate.out, "The folder for results and report; default: runs/simulate-<n>")
      ->option_text("DIR");
  command->add_flag("--overwrite", simulate.overwrite, "Replace an earlier simulation in --out");
  command->add_flag("--csv", simulate.csv, "Also write every table as CSV, and as the lines that Extra-P reads");
  command->add_flag("--validate", simulate.validate, "Compare with real ranks, started by mpirun");
  command->add_option("--hosts", simulate.hosts, "Hosts of the real ranks, as in launch")->option_text("FILE");
  command->add_option("--agent", simulate.agent, "What starts commands on them; default: ssh")->option_text("PROGRAM");
  // What a real rank of --validate is told.
  command->add_option("--plan", simulate.plan)->group("");
  command->add_option("--result", simulate.result)->group("");
}

/// The first argument is the command unless it is an option.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc < 2)
    throw Error(ExitCode::usage,
                fmt::format("a command is missing: {}; lockstep --help shows examples", fmt::join(names, ", ")));
  const std::string first = argv[1];
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with("-"))
    throw Error(ExitCode::usage,
                fmt::format("unknown option {}; options stand after a command: lockstep train ...", first));
  if (std::find(names.begin(), names.end(), first) != names.end()) return;
  throw Error(ExitCode::usage,
              fmt::format("unknown command {}{}; lockstep --help shows examples", first, suggestion(first, names)));
}

/// CLI11 says what it did not expect; people want to know what comes near.
[[noreturn]] void fail_extra(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front();
  const std::string help = fmt::format("; see lockstep {} --help", command.get_name());
  if (!extra.starts_with("-")) throw Error(ExitCode::usage, fmt::format("unexpected argument {}{}", extra, help));
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const auto near = nearest(extra.substr(0, extra.find('=')), known);
  throw Error(ExitCode::usage, fmt::format("unknown option {}{}{}", extra,
                                           near ? fmt::format("; did you mean {}?", *near) : "", near ? "" : help));
}

Request dispatch(const CLI::App& app, const std::shared_ptr<Values>& values) {
  Request request{.console = values->console};
  const Backend backend = backend_of(values->backend);
  const std::string command = app.get_subcommands().front()->get_name();
  if (values->lab.has(command)) {
    request.run = [values, command](Console& console) { values->lab.run(command, console); };
    return request;
  }
  if (command == "train") {
    values->train.options.backend = backend;
    request.run = [values](Console& console) { run_train(values->train, console); };
  } else if (command == "eval") {
    values->eval.backend = backend;
    request.run = [values](Console& console) { run_eval(values->eval, console); };
  } else if (command == "predict") {
    values->predict.backend = backend;
    request.run = [values](Console& console) { run_predict(values->predict, console); };
  } else if (command == "inspect") {
    request.run = [values](Console& console) { run_inspect(values->inspect, console); };
  } else if (command == "launch") {
    values->launch.command = app.get_subcommands().front()->remaining();
    request.run = [values](Console& console) { run_launch(values->launch, console); };
  } else if (command == "report") {
    request.run = [values](Console& console) { run_report(values->report, console); };
  } else if (command == "simulate") {
    request.run = [values](Console& console) { run_simulate(values->simulate, console); };
  } else if (command == "bench") {
    request.run = [values](Console& console) { run_bench(values->bench, console); };
  } else if (command == "reproduce") {
    request.run = [values](Console& console) { run_reproduce(values->reproduce, console); };
  } else {
    request.run = [values](Console& console) { run_export(values->exporting, console); };
  }
  return request;
}

}  // namespace

Request parse_arguments(int argc, const char* const* argv) {
  const auto values = std::make_shared<Values>();
  CLI::App app(kDescription, "lockstep");
  app.footer(kExamples);
  app.set_version_flag("--version", fmt::format("lockstep {} (numerics {})", version(), kNumericsVersion));
  app.require_subcommand(1);
  add_train(app, *values);
  add_eval(app, *values);
  add_predict(app, *values);
  add_inspect(app, *values);
  add_export(app, *values);
  add_bench(app, *values);
  add_reproduce(app, *values);
  add_launch(app, *values);
  add_report(app, *values);
  values->lab.add(app, values->console);
  values->lab.ladder.command = "lockstep " + shell_words(std::vector<std::string>(argv + 1, argv + argc));
  values->train.options.command = values->lab.ladder.command;
  add_simulate(app, *values);
  check_command(app, argc, argv);
  const auto chosen = [&]() -> const CLI::App& {
    return app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version_text) {
    return {.text = fmt::format("{}\n", version_text.what())};
  } catch (const CLI::CallForHelp&) {
    return {.text = chosen().help()};
  } catch (const CLI::ExtrasError&) {
    fail_extra(chosen());
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::usage,
                fmt::format("{}; see lockstep {} --help", one_line(error.what()), chosen().get_name()));
  }
  return dispatch(app, values);
}

}  // namespace lockstep::cli
