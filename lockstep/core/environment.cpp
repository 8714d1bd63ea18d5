#include "lockstep/core/environment.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep {

namespace {

using Kind = EnvironmentVariable::Kind;

constexpr double kMost = 2147483647;

constexpr EnvironmentVariable text(const char* name, const char* example, const char* help) {
  return {name, Kind::text, 0, 0, "", example, help};
}
constexpr EnvironmentVariable choice(const char* name, const char* choices, const char* example, const char* help) {
  return {name, Kind::choice, 0, 0, choices, example, help};
}
constexpr EnvironmentVariable integer(const char* name, double least, double most, const char* example,
                                      const char* help) {
  return {name, Kind::integer, least, most, "", example, help};
}

// clang-format off
constexpr EnvironmentVariable kVariables[] = {
    // Of Lockstep.
    text("LOCKSTEP_CACHE_DIR", "/var/cache/lockstep", "folder of compiled OpenCL programs; \"off\" keeps none"),
    text("LOCKSTEP_CUBLAS", "/opt/cuda/lib64/libcublas.so.13", "the file of cuBLAS"),
    choice("LOCKSTEP_CUDA_GRAPHS", "0, 1", "0", "0: start CUDA kernels one by one, not as graphs"),
    text("LOCKSTEP_CUDA_PLUGIN", "/opt/lockstep/liblockstep_cuda.so", "the file of the CUDA part, in place of the one beside the program"),
    text("LOCKSTEP_CUDNN", "/opt/cuda/lib64/libcudnn.so.9", "the file of cuDNN"),
    text("LOCKSTEP_DATA_DIR", "/data", "folder of data sets that are given by name"),
    choice("LOCKSTEP_ISA", "baseline, avx2, avx512, neon", "avx2", "the instruction set of the SIMD kernels; the best of this processor otherwise"),
    text("LOCKSTEP_LAUNCH", "4711-1", "set by `lockstep launch`: the mark by which it finds its processes"),
    choice("LOCKSTEP_MPI_CUDA", "0, 1", "0", "0: exchange device memory through the host although MPI says that it takes it"),
    text("LOCKSTEP_MPI_DIR", "/opt/lockstep", "folder of the MPI parts, in place of the one beside the program"),
    {"LOCKSTEP_OPENCL_DEVICE", Kind::device, 0, 0, "", "0:0", "the OpenCL device, as `lockstep doctor` lists it"},
    choice("LOCKSTEP_OPENCL_LANES", "1, 8, 16", "8", "samples of a work-item: 1 makes a processor run what a GPU runs, for tests"),
    choice("LOCKSTEP_OPENCL_LOG", "0, 1", "1", "1: print the whole log of an OpenCL program that does not compile"),
    {"LOCKSTEP_PEER_TIMEOUT", Kind::seconds, 0.001, 86400, "", "30", "seconds after which a silent rank counts as lost"},
    text("LOCKSTEP_PLANT_FAULT", "gradient@5", "plants a fault of the hardware, to test that it is found: docs/reliability.md"),
    text("LOCKSTEP_PYTHON", "/usr/bin/python3", "the Python that has PyTorch and JAX"),
    choice("LOCKSTEP_STEP_THREADS", "auto, all", "all", "all: every thread takes part in every step, also where fewer are faster"),
    // Of others, which Lockstep respects.
    text("HOME", "/srv/ada", "where ~/.cache is"),
    text("NO_COLOR", "1", "no colours in the terminal"),
    text("OCL_ICD_VENDORS", "/etc/OpenCL/vendors", "folder of OpenCL's drivers; read by the OpenCL loader"),
    {"OMP_NUM_THREADS", Kind::integers, 1, kMaxThreads, "", "4", "threads where none are given; of a list (4,2) the first"},
    text("PATH", "/usr/bin:/bin", "where programs are looked for"),
    text("TERM", "xterm", "whether the terminal can draw a progress line"),
    text("TEMP", "/tmp", "where Open MPI keeps its sessions; TMPDIR goes before it"),
    text("TMP", "/tmp", "where Open MPI keeps its sessions; TEMP goes before it"),
    text("TMPDIR", "/tmp", "where temporary files and Open MPI's sessions are"),
    text("UCX_NET_DEVICES", "eth0", "network of UCX, below MPI; where it is set, Lockstep leaves UCX alone"),
    text("XDG_CACHE_HOME", "/srv/ada/.cache", "where caches are"),
    // Shown by `lockstep doctor`, read by others.
    text("GOTO_NUM_THREADS", "1", "read by OpenBLAS"),
    text("HYDRA_BINDING", "none", "read by MPICH"),
    text("MKL_NUM_THREADS", "1", "read by MKL"),
    text("OMPI_MCA_hwloc_base_binding_policy", "none", "read by Open MPI"),
    text("OMPI_MCA_rmaps_base_mapping_policy", "slot", "read by Open MPI"),
    text("OMP_PROC_BIND", "true", "read by OpenMP"),
    text("OPENBLAS_NUM_THREADS", "1", "read by OpenBLAS"),
    text("SLURM_CPU_BIND", "cores", "read by Slurm"),
    // Left by launchers.
    integer("FLUX_TASK_LOCAL_ID", 0, kMaxRanks, "0", "rank on this host, of Flux"),
    integer("MPI_LOCALNRANKS", 1, kMaxRanks, "4", "number of ranks on this host, of MPICH"),
    integer("MPI_LOCALRANKID", 0, kMaxRanks, "0", "rank on this host, of MPICH"),
    integer("MV2_COMM_WORLD_LOCAL_RANK", 0, kMaxRanks, "0", "rank on this host, of MVAPICH2"),
    integer("MVP_COMM_WORLD_LOCAL_RANK", 0, kMaxRanks, "0", "rank on this host, of MVAPICH"),
    integer("OMPI_COMM_WORLD_LOCAL_RANK", 0, kMaxRanks, "0", "rank on this host, of Open MPI"),
    integer("OMPI_COMM_WORLD_LOCAL_SIZE", 1, kMaxRanks, "4", "number of ranks on this host, of Open MPI"),
    integer("OMPI_COMM_WORLD_RANK", 0, kMaxRanks, "0", "rank, of Open MPI"),
    integer("OMPI_COMM_WORLD_SIZE", 1, kMaxRanks, "4", "number of ranks, of Open MPI"),
    text("OMPI_MCA_orte_jobfam_session_dir", "/tmp/ompi.host.1000/pid.4711", "session folder of Open MPI"),
    text("OMPI_MCA_orte_top_session_dir", "/tmp/ompi.host.1000", "folder of all sessions of Open MPI"),
    integer("PALS_LOCAL_RANKID", 0, kMaxRanks, "0", "rank on this host, of PALS (Cray)"),
    integer("PMIX_LOCAL_RANK", 0, kMaxRanks, "0", "rank on this host, of PMIx"),
    integer("PMIX_RANK", 0, kMost, "0", "rank, of PMIx"),
    integer("PMI_FD", 0, kMost, "7", "connection to MPICH's launcher"),
    integer("PMI_LOCAL_RANK", 0, kMaxRanks, "0", "rank on this host, of PMI"),
    integer("PMI_RANK", 0, kMaxRanks, "0", "rank, of MPICH"),
    integer("PMI_SIZE", 1, kMaxRanks, "4", "number of ranks, of MPICH"),
    integer("SLURM_LOCALID", 0, kMaxRanks, "0", "rank on this host, of Slurm"),
    text("SLURM_MPI_TYPE", "pmi2", "interface by which Slurm started the ranks"),
    integer("SLURM_NTASKS", 1, kMaxRanks, "4", "number of ranks, of Slurm"),
    integer("SLURM_PROCID", 0, kMaxRanks, "0", "rank, of Slurm"),
    integer("SLURM_STEP_NUM_NODES", 1, kMaxRanks, "2", "number of hosts of this step, of Slurm"),
    integer("SLURM_STEP_NUM_TASKS", 1, kMaxRanks, "4", "number of ranks of this step, of Slurm"),
};
// clang-format on

const EnvironmentVariable& find(std::string_view name) {
  for (const EnvironmentVariable& each : kVariables)
    if (name == each.name) return each;
  throw Error(ErrorCode::bug, fmt::format("{} is not in the list of environment variables", name));
}

template <class T>
std::optional<T> number_in(std::string_view text, const EnvironmentVariable& variable) {
  const auto value = parse_number<T>(text);
  const bool allowed =
      value && double(*value) >= variable.least && double(*value) <= variable.most;  // not a NaN either
  return allowed ? value : std::nullopt;
}

/// The elements of "a, b, c".
std::optional<std::string_view> next_of(std::string_view& list) {
  if (list.data() == nullptr) return std::nullopt;
  const std::size_t end = list.find(',');
  const std::string_view element = trimmed(list.substr(0, end));
  list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  return element;
}

bool each_is_a_number(std::string_view list, const EnvironmentVariable& variable) {
  while (const auto element = next_of(list))
    if (!number_in<std::int64_t>(*element, variable)) return false;
  return true;
}

bool is_one_of(std::string_view text, std::string_view choices) {
  while (const auto each = next_of(choices))
    if (*each == text) return true;
  return false;
}

bool is_device(std::string_view text) {
  constexpr EnvironmentVariable kIndex{"", Kind::integer, 0, 9999, "", "", ""};
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && number_in<std::int64_t>(text.substr(0, colon), kIndex) &&
         number_in<std::int64_t>(text.substr(colon + 1), kIndex);
}

bool is_allowed(std::string_view text, const EnvironmentVariable& variable) {
  switch (variable.kind) {
    case Kind::text:
      return true;
    case Kind::integer:
      return number_in<std::int64_t>(text, variable).has_value();
    case Kind::integers:
      return each_is_a_number(text, variable);
    case Kind::seconds:
      return number_in<double>(text, variable).has_value();
    case Kind::choice:
      return is_one_of(text, variable.choices);
    case Kind::device:
      return is_device(text);
  }
  return false;
}

void check(std::string_view text, const EnvironmentVariable& variable) {
  if (is_allowed(text, variable)) return;
  constexpr std::size_t kShown = 40;
  const std::string shown = text.size() > kShown ? fmt::format("{}...", text.substr(0, kShown)) : std::string(text);
  throw Error(ErrorCode::usage, fmt::format("the environment variable {}={} must be {}, for example {}={}; set it so, "
                                            "or unset it",
                                            variable.name, shown, variable.allowed(), variable.name, variable.example));
}

std::optional<std::string_view> look_up(const EnvironmentVariable& variable) {
  const char* const value = std::getenv(variable.name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  check(value, variable);
  return value;
}

}  // namespace

std::string EnvironmentVariable::allowed() const {
  switch (kind) {
    case Kind::text:
      return "";
    case Kind::integer:
      return fmt::format("a whole number from {:.0f} to {:.0f}", least, most);
    case Kind::integers:
      return fmt::format("a whole number from {:.0f} to {:.0f}, or a list of them with commas", least, most);
    case Kind::seconds:
      return fmt::format("seconds, from {} to {}", least, most);
    case Kind::choice:
      return fmt::format("one of {}", choices);
    case Kind::device:
      return "platform:device, two whole numbers";
  }
  return "";
}

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::optional<std::string> environment_text(std::string_view name) {
  const auto text = look_up(find(name));
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::int64_t environment_integer(std::string_view name, std::string_view text) {
  const EnvironmentVariable& variable = find(name);
  check(text, variable);
  return *number_in<std::int64_t>(*next_of(text), variable);
}

std::optional<std::int64_t> environment_integer(std::string_view name) {
  const auto text = look_up(find(name));
  return text ? std::optional<std::int64_t>(environment_integer(name, *text)) : std::nullopt;
}

std::optional<double> environment_number(std::string_view name) {
  const EnvironmentVariable& variable = find(name);
  const auto text = look_up(variable);
  return text ? number_in<double>(*text, variable) : std::nullopt;
}

bool environment_flag(std::string_view name, bool otherwise) {
  const auto text = look_up(find(name));
  return text ? *text == "1" : otherwise;
}

void check_environment() {
  for (const EnvironmentVariable& variable : kVariables) static_cast<void>(look_up(variable));
}

}  // namespace lockstep
