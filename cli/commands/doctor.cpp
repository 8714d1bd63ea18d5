// lockstep doctor: what this machine has, what would spoil a measurement on it, and how to mend it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/ladder/peers.hpp"
#include "cli/output/json.hpp"
#include "cli/output/option_names.hpp"
#include "cli/process/mpirun.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/openblas.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/results.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/build_commit.hpp"

namespace lockstep::cli {

namespace {

struct Part {
  std::string name;
  bool there = false;
  std::string detail;
};

/// What fails says why, in one line, with the cure.
template <class Try>
Part tried(const std::string& name, Try attempt) {
  try {
    return {name, true, attempt()};
  } catch (const Error& error) {
    return {name, false, with_option_names(error.what())};
  }
}

bool is_of_every_shell(std::string_view name) { return name == "HOME" || name == "PATH" || name == "TERM"; }

std::string device_text(const DeviceInfo& device) {
  constexpr double kGiga = 1.0 / double(std::int64_t{1} << 30);
  TextTable facts("ll");
  facts.row({"driver", one_line(fmt::format("{}, version {}", device.platform, device.driver))});
  facts.row({"kind", fmt::format("{}, {}{}", device.kind, count_of(device.compute_units, "compute unit"),
                                 device.clock_mhz > 0 ? fmt::format(", {} MHz", device.clock_mhz) : "")});
  facts.row({"memory", fmt::format("{:.1f} GiB, at most {:.1f} GiB in one piece; {} KiB local to a work-group",
                                   double(device.memory_bytes) * kGiga, double(device.max_allocation_bytes) * kGiga,
                                   device.local_bytes >> 10)});
  facts.row({"work-groups", fmt::format("of at most {} work-items", device.max_group)});
  facts.row({"float64", device.float64 ? "yes" : "no: training needs it for the scores"});
  facts.row({"vectors", fmt::format("{} in a work-item in float32, {} in float64",
                                    count_of(device.lanes_float32, "sample"), device.lanes_float64)});
  return fmt::format("  {} device {}: {}\n{}", device.backend, device.id, one_line(device.name), facts.str(4));
}

Json device_json(const DeviceInfo& device) {
  return {{"backend", device.backend},
          {"id", device.id},
          {"name", device.name},
          {"vendor", device.vendor},
          {"platform", device.platform},
          {"driver", device.driver},
          {"kind", device.kind},
          {"compute_units", device.compute_units},
          {"clock_mhz", device.clock_mhz},
          {"memory_bytes", device.memory_bytes},
          {"max_allocation_bytes", device.max_allocation_bytes},
          {"local_bytes", device.local_bytes},
          {"max_group", device.max_group},
          {"float64", device.float64},
          {"lanes_float32", device.lanes_float32},
          {"lanes_float64", device.lanes_float64}};
}

std::vector<Part> parts(const CudaPresence& cuda) {
  std::vector<Part> all;
  for (std::size_t i = 0; i < backend_names().size(); ++i)
    all.push_back(tried("backend " + backend_names()[i], [&] {
      const auto backend = static_cast<Backend>(i);
      static_cast<void>(make_table<float>(backend));
      if (std::string_view(backend_info(backend).device) == "cuda" && !cuda.missing.empty())
        throw Error(ErrorCode::usage, "needs CUDA: see below");
      if (on_device(backend)) static_cast<void>(open_device(backend));
      return std::string(keeps_the_promise(backend) ? "same bits" : "equal within rounding");
    }));
  if (!cuda.missing.empty()) all.push_back({"CUDA", false, cuda.missing});
  for (const char* mpi : {"openmpi", "mpich"}) all.push_back(tried(mpi, [&] { return find_mpirun(mpi).program; }));
  const std::string openblas = openblas_description();
  all.push_back({"OpenBLAS", !openblas.empty(),
                 openblas.empty() ? lockstep::openblas().missing + ": sudo apt-get install libopenblas0" : openblas});
  const auto peers = find_peers();
  all.push_back({"PyTorch and JAX", peers.has_value(), peers ? peers->python : "absent: make peers installs them"});
  return all;
}

/// The variables of Lockstep and of launchers that are set, and what they are for.
std::string environment_section() {
  TextTable set("lll");
  for (const EnvironmentVariable& each : environment_variables())
    if (const auto value = environment_text(each.name); value && !is_of_every_shell(each.name))
      set.row({fmt::format("{}={}", each.name, one_line(*value)), "", each.help});
  const std::string rows = set.str(2);
  return fmt::format("\nEnvironment variables\n{}",
                     rows.empty() ? "  none that Lockstep reads; docs/environment.md lists them\n" : rows);
}

std::string text_of(const MachineDescription& machine, const std::vector<Part>& parts,
                    const std::vector<DeviceInfo>& devices, const std::vector<Finding>& findings) {
  TextTable facts("ll");
  facts.row({"processor", one_line(machine.processor)});
  facts.row({"cores", fmt::format("{} ({})", machine.cores, count_of(machine.processors, "processor"))});
  facts.row({"SIMD", fmt::format("{}", fmt::join(machine.instruction_sets, ", "))});
  TextTable has("lll");
  for (const Part& part : parts) has.row({part.there ? "there" : "-", part.name, one_line(part.detail)});
  std::string text = fmt::format("{}\nWhat there is\n{}\nDevices\n", facts.str(), has.str(2));
  for (const DeviceInfo& device : devices) text += device_text(device);
  if (devices.empty()) text += "  none: the driver of a GPU brings one; so does pocl-opencl-icd, on the processor\n";
  text += environment_section();
  text += "\nWhat would spoil a measurement\n";
  int warnings = 0;
  for (const Finding& finding : findings) {
    text += fmt::format("  {:8} {:17} {}\n", to_string(finding.grade), finding.check, one_line(finding.seen));
    if (finding.grade == Finding::Grade::good) continue;
    warnings += finding.grade == Finding::Grade::warning;
    text += fmt::format("           spoils: {}\n           cure:   {}\n", finding.spoils, finding.cure);
  }
  return text + fmt::format("\n{}\n", warnings == 0 ? "No warnings: measure."
                                                    : fmt::format("{}: results taken now carry them.",
                                                                  count_of(warnings, "warning")));
}

void run_doctor(Console& console) {
  const ResultOrigin origin = measured_here();
  const std::vector<Finding> findings = examine(look_at_machine());
  const CudaPresence cuda = find_cuda();
  const std::vector<Part> all = parts(cuda);
  std::vector<DeviceInfo> devices = list_opencl_devices();
  devices.insert(devices.end(), cuda.devices.begin(), cuda.devices.end());
  if (!console.json()) return console.print(text_of(origin.machine, all, devices, findings));
  Json json = {{"processor", origin.machine.processor},
               {"cores", origin.machine.cores},
               {"processors", origin.machine.processors},
               {"instruction_sets", origin.machine.instruction_sets},
               {"versions", origin.versions},
               {"commit", build_commit()}};
  for (const Part& part : all)
    json["parts"].push_back({{"name", part.name}, {"there", part.there}, {"detail", part.detail}});
  json["devices"] = Json::array();
  for (const DeviceInfo& device : devices) json["devices"].push_back(device_json(device));
  for (const EnvironmentVariable& each : environment_variables())
    json["environment"].push_back({{"name", each.name},
                                   {"value", environment_text(each.name).value_or("")},
                                   {"allowed", each.allowed()},
                                   {"example", each.example},
                                   {"help", each.help}});
  for (const Finding& f : findings)
    json["findings"].push_back(
        {{"check", f.check}, {"grade", to_string(f.grade)}, {"seen", f.seen}, {"spoils", f.spoils}, {"cure", f.cure}});
  console.print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

RunCommand doctor_command(Options&) { return run_doctor; }

}  // namespace lockstep::cli
