#include "lockstep/parallel/launcher.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/parallel/mpi/plugin.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

struct LibraryNames {
  const char *name, *file, *package;
};

LibraryNames names_of(MpiLibrary library) {
  return library == MpiLibrary::open_mpi ? LibraryNames{"Open MPI", "lockstep_openmpi.so", "libopenmpi-dev"}
                                         : LibraryNames{"MPICH", "lockstep_mpich.so", "libmpich-dev"};
}

fs::path find_mpi_plugin(const char* file) {
  if (const auto folder = environment_text("LOCKSTEP_MPI_DIR")) return fs::path(*folder) / file;
  return find_plugin(file);
}

/// `user` begins the messages: "started by Open MPI's mpirun", "mpi4py uses Open MPI".
const MpiPlugin& open_plugin(MpiLibrary kind, const std::string& user) {
  const LibraryNames names = names_of(kind);
  const fs::path path = find_mpi_plugin(names.file);
  if (path.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{}, but this build of Lockstep has no part for {}: install {} and build again", user,
                            names.name, names.package));
  // Open MPI opens parts of its own, which look for its symbols: they must be visible.
  const SharedLibrary library = open_library(path.string(), true);
  if (library.handle == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("{}: {}; is {} installed here?", path.string(), library.error, names.name));
  const auto get = reinterpret_cast<const MpiPlugin* (*)()>(library.find(kMpiPluginSymbol));
  if (get == nullptr || get()->version != kMpiPluginVersion)
    throw Error(ErrorCode::usage,
                fmt::format("{}: made for another version of Lockstep; build or install it again", path.string()));
  return *get();
}

MpiProcessors own_processors() {
  MpiProcessors own{};
  for (const int cpu : allowed_cpus())
    if (const auto byte = static_cast<std::size_t>(cpu) / 8; byte < sizeof own.bits)
      own.bits[byte] |= static_cast<unsigned char>(1U << (cpu % 8));
  return own;
}

/// Equal for all processes on one kernel, whatever the name and network of their host; of two kernels by accident only.
int machine_number() {
  return static_cast<int>(std::strtoul(boot_id().substr(0, 8).c_str(), nullptr, 16) & 0x7fffffffUL);
}

/// Whether there are more ranks than processors; a quota of the control group may leave them fewer than there are.
bool too_few(const MpiProcessors& processors) {
  int count = 0;
  for (const unsigned char byte : processors.bits) count += std::popcount(byte);
  const int own = available_cpus();
  return processors.ranks > (own < static_cast<int>(allowed_cpus().size()) ? std::min(count, own) : count);
}

constexpr const char* kOneThread =
    "MPI was started for calls from one thread, and Lockstep has several; mpi4py: mpi4py.rc.thread_level = "
    "\"multiple\", "
    "which is its default, before mpi4py.MPI is imported";

/// The library is called by one thread at a time, whatever the group.
std::mutex library_mutex;

class MpiTransport final : public Transport {
 public:
  MpiTransport(const MpiPlugin& plugin, int group, const MpiFacts& facts, bool shares_cores, LibraryCalls* calls)
      : plugin_(plugin), group_(group), facts_(facts), shares_cores_(shares_cores), calls_(calls) {
    // For those whose MPI library says that it takes device memory, and does not.
    if (!environment_flag("LOCKSTEP_MPI_CUDA", true)) facts_.takes_cuda = 0;
  }
  // Finishing waits for the others; after a failure they may never come.
  ~MpiTransport() override {
    if (std::uncaught_exceptions() == 0) plugin_.finish(group_);
  }

  const MpiPlugin& plugin() const { return plugin_; }
  int group() const { return group_; }

  int rank() const override { return facts_.rank; }
  int size() const override { return facts_.size; }
  int local_size() const override { return facts_.local_size; }
  int local_rank() const override { return facts_.local_rank; }
  bool shares_cores() const override { return shares_cores_; }
  std::string host() const override { return facts_.host; }
  std::string describe() const override { return facts_.library; }
  bool takes_memory_of(std::string_view backend) const override { return backend == "cuda" && facts_.takes_cuda != 0; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    return call(to,
                [&](int* request) { return plugin_.send(group_, to, channel, bytes.data(), bytes.size(), request); });
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    return call(from, [&](int* request) {
      return plugin_.receive(group_, from, channel, bytes.data(), bytes.size(), request);
    });
  }
  bool finished(TransportRequest request) override {
    return call(kNobody, [&](int* done) { return plugin_.test(request, done); }) != 0;
  }
  TransportRequest start_library_sum(std::span<float> values) override {
    return call(kNobody,
                [&](int* request) { return plugin_.sum_float(group_, values.data(), values.size(), request); });
  }
  TransportRequest start_library_sum(std::span<double> values) override {
    return call(kNobody,
                [&](int* request) { return plugin_.sum_double(group_, values.data(), values.size(), request); });
  }
  [[noreturn]] void abort(int exit_code) override {
    plugin_.abort(group_, exit_code);
    std::_Exit(exit_code);
  }

 private:
  static constexpr int kNobody = -1;

  /// What the function writes, called into the library alone. `peer` stands in the message of a failure.
  template <class Function>
  int call(int peer, const Function& function) {
    const std::lock_guard lock(library_mutex);
    const LibraryCall watched(calls_);
    int result = 0;
    check(function(&result), peer);
    return result;
  }

  void check(int error, int peer) const {
    if (error == 0) return;
    char text[512] = {};
    plugin_.explain(error, text, sizeof text);
    throw Error(ErrorCode::peer_lost,
                fmt::format("rank {} on {}: {} failed{}: {}", facts_.rank, facts_.host, facts_.library,
                            peer == kNobody ? "" : fmt::format(" with rank {}", peer), text));
  }

  const MpiPlugin& plugin_;
  int group_;
  MpiFacts facts_;
  bool shares_cores_;
  LibraryCalls* calls_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(const Launcher& launcher, LibraryCalls* calls) {
  const MpiPlugin& plugin = open_plugin(launcher.library, "started by " + launcher.name);
  MpiFacts facts{};
  MpiProcessors processors = own_processors();
  int group = 0;
  const int error = plugin.start(nullptr, &facts, machine_number(), &processors, &group);
  if (error == kMpiTooFewThreads) throw Error(ErrorCode::usage, kOneThread);
  if (error != 0) throw Error(ErrorCode::usage, fmt::format("started by {}, but MPI does not start", launcher.name));
  if (facts.size != launcher.size)
    throw Error(
        ErrorCode::usage,
        fmt::format("{} started {} processes, but each finds {} with {}: the launcher and the MPI library do not "
                    "belong together; use the mpirun of that library",
                    launcher.name, launcher.size, facts.size, facts.library));
  return make_checked_transport(std::make_unique<MpiTransport>(plugin, group, facts, too_few(processors), calls));
}

std::unique_ptr<Transport> make_mpi_transport(const MpiCommunicator& communicator, LibraryCalls* calls) {
  const char* const name = names_of(communicator.library).name;
  const MpiPlugin& plugin = open_plugin(communicator.library, fmt::format("the communicator is one of {}", name));
  MpiFacts facts{};
  MpiProcessors processors = own_processors();
  int group = 0;
  const int error = plugin.start(&communicator.handle, &facts, machine_number(), &processors, &group);
  if (error == kMpiTooFewThreads) throw Error(ErrorCode::usage, kOneThread);
  if (error != 0)
    throw Error(ErrorCode::usage,
                fmt::format("the communicator belongs to another copy of {} than the one that Lockstep's part for it "
                            "opens; both must use the library of the launcher",
                            name));
  return make_checked_transport(std::make_unique<MpiTransport>(plugin, group, facts, too_few(processors), calls));
}

bool has_ranks_of(const Transport& transport, const MpiCommunicator& communicator) {
  const auto* const mpi = dynamic_cast<const MpiTransport*>(&transport.innermost());
  if (mpi == nullptr) return false;
  const std::lock_guard lock(library_mutex);
  int same = 0;
  return mpi->plugin().compare(mpi->group(), communicator.handle, &same) == 0 && same != 0;
}

}  // namespace lockstep
