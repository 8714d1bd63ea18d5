#include "cli/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/build_commit.hpp"
#include "cli/ladder/peers.hpp"
#include "cli/mpirun.hpp"
#include "cli/scores.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/results.hpp"
#include "lockstep/lab/text_table.hpp"

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
    return {name, false, error.what()};
  }
}

std::string device_name(const DeviceInfo& device) { return fmt::format("{} device {}", device.backend, device.id); }

std::string limits_of(const DeviceInfo& device) {
  constexpr double kGiga = 1.0 / double(std::int64_t{1} << 30);
  return fmt::format("{} ({}): {} compute units, {:.1f} GiB, {:.1f} GiB in one piece, {} KiB local, groups of {}{}",
                     device.name, device.kind, device.compute_units, double(device.memory_bytes) * kGiga,
                     double(device.max_allocation_bytes) * kGiga, device.local_bytes >> 10, device.max_group,
                     device.float64 ? "" : ", no float64");
}

std::vector<Part> parts() {
  std::vector<Part> all;
  for (std::size_t i = 0; i < backend_names().size(); ++i)
    all.push_back(tried("backend " + backend_names()[i], [&] {
      const auto backend = static_cast<Backend>(i);
      static_cast<void>(make_table<float>(backend));
      if (on_device(backend)) static_cast<void>(open_device(backend));
      return std::string(keeps_the_promise(backend) ? "same bits" : "equal within rounding");
    }));
  std::vector<DeviceInfo> devices = list_opencl_devices();
  const CudaPresence cuda = find_cuda();
  devices.insert(devices.end(), cuda.devices.begin(), cuda.devices.end());
  for (const DeviceInfo& device : devices) all.push_back({device_name(device), true, limits_of(device)});
  if (!cuda.missing.empty()) all.push_back({"CUDA", false, cuda.missing});
  for (const char* mpi : {"openmpi", "mpich"}) all.push_back(tried(mpi, [&] { return find_mpirun(mpi).program; }));
  const std::string openblas = openblas_description();
  all.push_back(
      {"OpenBLAS", !openblas.empty(), openblas.empty() ? "absent: sudo apt-get install libopenblas0" : openblas});
  const auto peers = find_peers();
  all.push_back({"PyTorch and JAX", peers.has_value(), peers ? peers->python : "absent: make peers installs them"});
  return all;
}

std::string text_of(const MachineDescription& machine, const std::vector<Part>& parts,
                    const std::vector<Finding>& findings) {
  TextTable facts("ll");
  facts.row({"processor", one_line(machine.processor)});
  facts.row({"cores", fmt::format("{} ({} processors)", machine.cores, machine.processors)});
  facts.row({"SIMD", fmt::format("{}", fmt::join(machine.instruction_sets, ", "))});
  TextTable has("lll");
  for (const Part& part : parts) has.row({part.there ? "there" : "-", part.name, one_line(part.detail)});
  std::string text = fmt::format("{}\nWhat there is\n{}\nWhat would spoil a measurement\n", facts.str(), has.str(2));
  int warnings = 0;
  for (const Finding& finding : findings) {
    text += fmt::format("  {:8} {:17} {}\n", to_string(finding.grade), finding.check, one_line(finding.seen));
    if (finding.grade == Finding::Grade::good) continue;
    warnings += finding.grade == Finding::Grade::warning;
    text += fmt::format("           spoils: {}\n           cure:   {}\n", finding.spoils, finding.cure);
  }
  return text + fmt::format("\n{}\n", warnings == 0 ? "No warnings: measure."
                                                    : fmt::format("{} warning{}: results taken now carry them.",
                                                                  warnings, warnings == 1 ? "" : "s"));
}

}  // namespace

void run_doctor(Console& console) {
  const ResultOrigin origin = measured_here();
  const std::vector<Finding> findings = examine(look_at_machine());
  const std::vector<Part> all = parts();
  if (!console.json()) return console.print(text_of(origin.machine, all, findings));
  Json json = {{"processor", origin.machine.processor},
               {"cores", origin.machine.cores},
               {"processors", origin.machine.processors},
               {"instruction_sets", origin.machine.instruction_sets},
               {"versions", origin.versions},
               {"commit", build_commit()}};
  for (const Part& part : all)
    json["parts"].push_back({{"name", part.name}, {"there", part.there}, {"detail", part.detail}});
  for (const Finding& f : findings)
    json["findings"].push_back(
        {{"check", f.check}, {"grade", to_string(f.grade)}, {"seen", f.seen}, {"spoils", f.spoils}, {"cure", f.cure}});
  console.print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace lockstep::cli
