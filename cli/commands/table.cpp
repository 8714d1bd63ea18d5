#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/commands/commands.hpp"
#include "cli/exercise/commands.hpp"
#include "cli/ladder/ladder.hpp"
#include "cli/reproduce/reproduce.hpp"
#include "cli/simulate/simulate.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

namespace {

// In the order of --help.
constexpr Command kCommands[] = {
    {"train", "Train the network that a configuration describes", train_command},
    {"eval", "Loss, accuracy and confusion matrix of a model", eval_command},
    {"predict", "Classes with probabilities for pictures, arrays or rows", predict_command},
    {"generate", "Text from a model of text, token by token", generate_command},
    {"inspect", "What is in a model, a configuration or a data file", inspect_command},
    {"export", "Write a model for other programs", export_command},
    {"bench", "Measure this machine, and every kernel of the example networks", bench_command},
    {"reproduce", "Repeat a published experiment, its figures beside ours", reproduce_command},
    {"launch", "Train on several ranks, and go on by itself when one is lost", launch_command, false,
     "Do not say what is started; train has a --quiet of its own"},
    {"report", "Make the report of a run or of measurements again, without measuring", report_command},
    {"compare", "Runs beside each other: scores, configurations, the same bits or not", compare_command},
    {"diff", "Where two runs that should agree part: step, phase, layer, element", diff_command},
    {"verify", "Compute a run again, and say whether it is what it claims", verify_command},
    {"sweep", "Train every combination of some values, side by side", sweep_command},
    {"ladder", "Measure a training on every rung of this machine", ladder_command},
    {"exercise", "Exercises in parallel computing: the list, and a folder for each", exercise_command},
    {"check", "Is a kernel of your own right, why not, and how fast is it", check_kernel_command},
    {"doctor", "What this machine has, and what would spoil a measurement on it", doctor_command},
    {"simulate", "How training would scale on a cluster: simulated", simulate_command},
};

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
  lockstep sweep examples/moons.toml --grid train.optimizer.lr=0.01,0.1 --runs 2
  lockstep compare runs/moons-1 runs/moons-2
  lockstep diff runs/moons-1 runs/moons-2
  lockstep verify runs/moons-1
  lockstep exercise new linear-forward --track openmp
  lockstep check linear-forward
  lockstep ladder examples/lenet5-fashion.toml
  mpirun -n 4 lockstep train examples/lenet5-fashion.toml --threads 1
  lockstep launch -n 4 train examples/lenet5-fashion.toml --threads 1 --out runs/four

Exit codes: 0 done, 1 a fault of Lockstep, 2 command line or configuration, 3 input data, 4 model or checkpoint
unusable, 5 out of disk, memory or a limit, 6 run directory in use, 7 a rank is lost, 8 diverged, 9 the ranks disagree,
the hardware is wrong or a run is not what it claims, 10 stopped by a signal and saved.)";

}  // namespace

Request parse_arguments(int argc, const char* const* argv) {
  return parse_command_line(argc, argv, kCommands,
                            {.description = kDescription,
                             .footer = kExamples,
                             .version = fmt::format("lockstep {} (numerics {})", version(), kNumericsVersion)});
}

}  // namespace lockstep::cli
