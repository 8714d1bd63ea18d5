// smpirun ... lockstep_smpi.so PLAN.json RATES.json RESULT.json: the steps of a plan on a simulated cluster.
//
// All ranks live in one process and one address space: nothing in Lockstep keeps a rank's state in a global variable,
// so SMPI need not give each rank its own. They compute for real, in simulated time that only messages and charges
// move on: the weights are those of a real run, and their hash says so.

#include <mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

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
  SectionRates rates;
  std::string result;
  std::shared_ptr<const Dataset> samples;
  std::vector<StepTimes> times;      // by rank
  std::vector<double> work_seconds;  // charged, by rank
  std::vector<Traffic> traffic;      // by rank
};

std::unique_ptr<Cluster> cluster;

std::string read_text(const char* path) {
  const std::vector<std::byte> bytes = read_file(path, std::int64_t{1} << 30);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unique_ptr<Cluster> make_cluster(char** words, int size) {
  auto made = std::make_unique<Cluster>();
  made->plan = parse_plan(read_text(words[1]));
  made->rates = parse_rates(read_text(words[2]));
  made->result = words[3];
  made->samples = make_step_samples(made->plan);
  const auto ranks = static_cast<std::size_t>(size);
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
  const nlohmann::json result{
      {"step_seconds", step_seconds(cluster->times)},     {"work_seconds", work},
      {"messages", double(all.messages) / steps},         {"bytes", double(all.bytes) / steps},
      {"most_messages", double(most.messages) / steps},   {"most_bytes", double(most.bytes) / steps},
      {"weight_hash", cluster->times.front().weight_hash}};
  write_file_atomically(cluster->result, result.dump());
}

/// One rank's failure is that of all.
[[noreturn]] void fail(const char* result, ExitCode code, const char* what) {
  write_file_atomically(result, nlohmann::json{{"error", what}, {"code", static_cast<int>(code)}}.dump());
  std::_Exit(static_cast<int>(code));
}

void run_rank(char** words) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) cluster = make_cluster(words, size);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto own = static_cast<std::size_t>(rank);
  RatesCharge charge(cluster->rates, [](double seconds) { smpi_execute_flops(seconds * kNodeFlops); });
  Ranks ranks(make_smpi_transport(cluster->traffic[own]));
  cluster->times[own] =
      run_steps(cluster->plan, *cluster->samples, ranks, {.seconds = [] { return MPI_Wtime(); }, .charge = &charge});
  cluster->work_seconds[own] = charge.total_seconds();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) write_result();
}

}  // namespace

/// What smpirun calls, once per rank.
int main(int argc, char** argv) {
  if (argc != 4) return static_cast<int>(ExitCode::usage);
  MPI_Init(&argc, &argv);
  try {
    run_rank(argv);
  } catch (const Error& error) {
    fail(argv[3], error.code(), error.what());
  } catch (const std::exception& error) {
    fail(argv[3], ExitCode::bug, error.what());
  }
  MPI_Finalize();
  return 0;
}
