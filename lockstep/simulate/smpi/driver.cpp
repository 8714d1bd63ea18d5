// smpirun ... lockstep_smpi.so PLAN.json RATES.json MODEL.json RESULT.json: the steps of a plan on a simulated cluster.
//
// All ranks live in one process and one address space: nothing in Lockstep keeps a rank's state in a global variable,
// so SMPI need not give each rank its own. They compute for real, in simulated time that only messages and charges
// move on: the weights are those of a real run, and their hash says so.

#include <mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdlib>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Exec.hpp>
#include <simgrid/s4u/Host.hpp>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/simulate/platform.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/smpi/smpi_transport.hpp"
#include "lockstep/simulate/step_program.hpp"

namespace {

using namespace lockstep;

/// What all ranks share.
struct Cluster {
  StepPlan plan;
  std::vector<SectionRates> rates;  // by rank, or one for all
  MachineModel model;
  std::string result;
  std::shared_ptr<const Dataset> samples;
  std::vector<StepTimes> times;      // by rank
  std::vector<double> work_seconds;  // charged, by rank
  std::vector<Traffic> traffic;      // by rank
};

std::unique_ptr<Cluster> cluster;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;  // of a file that describes the simulation

std::unique_ptr<Cluster> make_cluster(char** words, int size) {
  auto made = std::make_unique<Cluster>();
  made->plan = parse_plan(read_text(words[1], kMaxBytes));
  made->rates = parse_rank_rates(read_text(words[2], kMaxBytes));
  made->model = parse_model(read_text(words[3], kMaxBytes));
  made->result = words[4];
  made->samples = make_step_samples(made->plan);
  const auto ranks = static_cast<std::size_t>(size);
  if (made->rates.size() != 1 && made->rates.size() != ranks)
    throw Error(ErrorCode::usage, "the rates are those of another number of ranks");
  made->times.resize(ranks);
  made->work_seconds.resize(ranks);
  made->traffic.resize(ranks);
  return made;
}

void write_result() {
  const double steps = cluster->plan.steps + 1;
  Traffic most, all;
  for (const Traffic& each : cluster->traffic) {
    most = {std::max(most.messages, each.messages), std::max(most.bytes, each.bytes)};
    all = {all.messages + each.messages, all.bytes + each.bytes};
  }
  std::vector<double> work = cluster->work_seconds;
  for (double& each : work) each /= steps;
  const nlohmann::json result{{"step_seconds", step_seconds(cluster->times)},
                              {"work_seconds", work},
                              {"mean_seconds", mean_step_seconds(cluster->times)},
                              {"messages", double(all.messages) / steps},
                              {"bytes", double(all.bytes) / steps},
                              {"most_messages", double(most.messages) / steps},
                              {"most_bytes", double(most.bytes) / steps},
                              {"weight_hash", cluster->times.front().weight_hash}};
  write_file_atomically(cluster->result, result.dump());
}

/// One rank's failure is that of all.
[[noreturn]] void fail(const char* result, ErrorCode code, const char* what) {
  write_file_atomically(result, nlohmann::json{{"error", what}, {"code", static_cast<int>(code)}}.dump());
  std::_Exit(static_cast<int>(code));
}

/// Keeps the rank's core busy: that of its node, or one of those that it shares with other ranks of its machine.
std::function<void(double)> core_of(int rank) {
  if (cluster->model.empty()) return [](double seconds) { smpi_execute_flops(seconds * kNodeFlops); };
  const int machine = cluster->model.machine[static_cast<std::size_t>(rank)];
  simgrid::s4u::Host* const host = simgrid::s4u::Host::by_name("machine-" + std::to_string(machine));
  return [host](double seconds) { simgrid::s4u::this_actor::exec_init(seconds * kNodeFlops)->set_host(host)->wait(); };
}

/// Work that a rank has to compute before the next message or the next look at the clock. One piece of work
/// instead of one for every section, because SimGrid's lists of what a rank has done grow with each.
class Backlog {
 public:
  explicit Backlog(std::function<void(double)> core) : core_(std::move(core)) {}
  void add(double seconds) { seconds_ += seconds; }
  void work_off() {
    if (seconds_ > 0) core_(std::exchange(seconds_, 0));
  }

 private:
  std::function<void(double)> core_;
  double seconds_ = 0;
};

void run_rank(char** words) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) cluster = make_cluster(words, size);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto own = static_cast<std::size_t>(rank);
  Backlog backlog(core_of(rank));
  const auto add = [&](double seconds) { backlog.add(seconds); };
  RatesCharge charge(cluster->rates[cluster->rates.size() == 1 ? 0 : own], add);
  Ranks ranks(make_smpi_transport(cluster->traffic[own],
                                  {.model = cluster->model, .add_work = add, .work_off = [&] { backlog.work_off(); }}));
  const auto clock = [&] {
    backlog.work_off();
    return MPI_Wtime();
  };
  cluster->times[own] = run_steps(cluster->plan, *cluster->samples, ranks, {.seconds = clock, .charge = &charge});
  cluster->work_seconds[own] = charge.total_seconds();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) write_result();
}

}  // namespace

/// What smpirun calls, once per rank.
int main(int argc, char** argv) {
  if (argc != 5) return static_cast<int>(ErrorCode::usage);
  MPI_Init(&argc, &argv);
  try {
    run_rank(argv);
  } catch (const Error& error) {
    fail(argv[4], error.code(), error.what());
  } catch (const std::exception& error) {
    fail(argv[4], ErrorCode::bug, error.what());
  }
  MPI_Finalize();
  return 0;
}
