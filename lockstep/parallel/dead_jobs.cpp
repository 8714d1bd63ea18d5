#include "lockstep/parallel/dead_jobs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/parallel/leftovers.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSessionVariable = "OMPI_MCA_orte_jobfam_session_dir";
// Of MPICH itself, and of UCX below it.
constexpr std::string_view kMpichMemory[] = {"mpich_", "ucx_shm_posix_"};
// From the mark to the memory: both are made while MPI starts, which a watchdog ends sooner.
constexpr std::int64_t kStartSeconds = 60;
// Longer than a process that has a processor takes to begin a program.
constexpr std::chrono::milliseconds kExecTime{10};
// A file that was made just now may not be mapped yet.
constexpr std::int64_t kSettled = 1;

/// A mark per namespace of process numbers: a process of another namespace cannot tell which numbers are dead.
std::string mark_prefix() {
  struct stat about {};
  const bool known = ::stat("/proc/self/ns/pid", &about) == 0;
  return fmt::format("lockstep.{:x}.", known ? about.st_ino : 0);
}

std::optional<struct stat> own_file(const fs::path& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || about.st_uid != ::geteuid()) return std::nullopt;
  return about;
}

void touch(const fs::path& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) ::close(file);
}

std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    if (each->path().filename().string().starts_with(prefix)) found.push_back(each->path());
  return found;
}

/// /dev/shm/vader_segment.<host>.<user>.<job>.<rank> of Open MPI: those of all ranks of the job on this host, of which
/// one that was killed early may be mapped by nobody. /dev/shm/mpich* of MPICH has a name of its own for every job.
void add_segments(const fs::path& mapped, std::set<fs::path>& found) {
  const std::string name = mapped.filename().string();
  if (name.starts_with("mpich")) found.insert(mapped);
  if (!name.starts_with("vader_segment.")) return;
  const std::string job = name.substr(0, name.rfind('.') + 1);
  for (fs::path& each : entries(mapped.parent_path(), job)) found.insert(std::move(each));
}

std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A process of this user whose name begins in one of these ways: one with another name has got the number of a dead
/// one.
bool runs(std::uint64_t process, std::initializer_list<std::string_view> names) {
  const fs::path about = fs::path("/proc") / std::to_string(process);
  if (!own_file(about)) return false;
  std::ifstream file(about / "comm");
  std::string name;
  std::getline(file, name);
  return std::any_of(names.begin(), names.end(), [&](std::string_view each) { return name.starts_with(each); });
}

/// Whether `test(folder in /proc)` holds for a process of this user, this one aside.
template <class Test>
bool any_process(const Test& test) {
  for (const fs::path& each : entries("/proc", ""))
    if (const auto process = number(each.filename().string()))
      if (*process != static_cast<std::uint64_t>(::getpid()) && own_file(each) && test(each)) return true;
  return false;
}

/// The environment of a process. A process in the middle of exec has none for a moment, like a zombie, which has no
/// program either: `unknown` is set then.
std::vector<std::string> environment_of(const fs::path& process, bool& unknown) {
  std::vector<std::string> entries;
  std::ifstream file(process / "environ");
  for (std::string each; std::getline(file, each, '\0');) entries.push_back(each);
  std::error_code error;
  unknown = entries.empty() && fs::read_symlink(process / "exe", error) != fs::path();
  return entries;
}

bool has_live_ranks(const fs::path& session) {
  const std::string entry = fmt::format("{}={}", kSessionVariable, session.string());
  constexpr int kLooks = 4;  // at processes that may be in the middle of exec
  for (int look = 0; look < kLooks; ++look) {
    bool any_unknown = false;
    const bool lives = any_process([&](const fs::path& process) {
      bool unknown = false;
      const std::vector<std::string> entries = environment_of(process, unknown);
      any_unknown = any_unknown || unknown;
      return std::find(entries.begin(), entries.end(), entry) != entries.end();
    });
    if (lives || !any_unknown) return lives;
    std::this_thread::sleep_for(kExecTime);
  }
  return false;
}

bool is_mapped(const fs::path& memory) {
  return any_process([&](const fs::path& process) {
    std::ifstream maps(process / "maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with(memory.string())) return true;
    return false;
  });
}

/// mpirun makes a folder 0 for itself first, and one for each job when it starts the processes; their data come last.
/// Any of these may be missing: mpirun died before it made them, or a start was killed while it removed them.
bool has_started_nothing(const fs::path& session) {
  for (const fs::path& each : entries(session, "")) {
    const std::string name = each.filename().string();
    const bool data = name.starts_with("pmix_dstor_");
    if (!data && name != "0" && name != "contact.txt" && name != "hwloc.sm") return false;
    if (data && !entries(each, "smdataseg-").empty()) return false;
  }
  return true;
}

/// The shared memory of the jobs of an mpirun, which has its number, and theirs, in contact.txt:
/// "<number>.0;tcp://...".
std::set<fs::path> memory_of(const fs::path& session, const fs::path& folder) {
  std::ifstream contact(session / "contact.txt");
  std::string line;
  std::getline(contact, line);
  const auto job = number(std::string_view(line).substr(0, line.find('.')));
  std::set<fs::path> found;
  if (!job) return found;
  for (const fs::path& each : entries(folder, "vader_segment.")) {
    // vader_segment.<host>.<user>.<job in hex>.<rank>
    const std::string name = each.filename().string();
    const auto last = name.rfind('.'), before = name.rfind('.', last - 1);
    const auto of = number(std::string_view(name).substr(before + 1, last - before - 1), 16);
    if (of && *of >> 16 == *job >> 16 && own_file(each)) found.insert(each);
  }
  return found;
}

/// True unless a rank of it still lives.
bool remove_session(const fs::path& session, const fs::path& memory, const std::vector<pid_t>& launched) {
  const auto mpirun = number(session.filename().string().substr(4));
  const auto about = own_file(session);
  if (!mpirun || !about || !S_ISDIR(about->st_mode) || runs(*mpirun, {"mpirun", "mpiexec", "orte"})) return true;
  const bool ours = std::find(launched.begin(), launched.end(), static_cast<pid_t>(*mpirun)) != launched.end() ||
                    !entries(session, mark_prefix()).empty() || has_started_nothing(session);
  if (!ours) return true;
  if (has_live_ranks(session)) return false;
  remove_leftovers(memory_of(session, memory));
  // The mark goes last: where this process is killed in between, the next start knows what is left.
  std::set<fs::path> unmarked;
  for (const fs::path& each : entries(session, ""))
    if (!each.filename().string().starts_with(mark_prefix())) unmarked.insert(each);
  remove_leftovers(unmarked);
  remove_leftovers({session});
  return true;
}

std::vector<fs::path> mpich_memory(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const std::string_view prefix : kMpichMemory)
    for (fs::path& each : entries(folder, prefix)) found.push_back(std::move(each));
  return found;
}

/// The marks of MPICH's jobs, lockstep.<namespace>.<parent of the ranks>, and the memory made soon after.
bool remove_mpich(const fs::path& folder) {
  const std::string prefix = mark_prefix();
  bool all = true;
  for (const fs::path& mark : entries(folder, prefix)) {
    const auto parent = number(mark.filename().string().substr(prefix.size()));
    const auto begun = own_file(mark);
    if (!parent || !begun || runs(*parent, {""})) continue;
    bool lives = false;
    std::set<fs::path> dead = {mark};
    for (const fs::path& each : mpich_memory(folder)) {
      const auto made = own_file(each);
      if (!made || made->st_mtime < begun->st_mtime || made->st_mtime > begun->st_mtime + kStartSeconds) continue;
      if (is_mapped(each) || ::time(nullptr) <= made->st_mtime + kSettled)
        lives = true;
      else
        dead.insert(each);
    }
    if (lives) dead.erase(mark);
    all = all && !lives;
    remove_leftovers(dead);
  }
  return all;
}

/// Where Open MPI keeps the sessions of this user on this host: as it has told a rank, or as it would choose.
std::vector<fs::path> session_folders() {
  if (const auto folder = environment_text("OMPI_MCA_orte_top_session_dir")) return {*folder};
  fs::path base = "/tmp";
  for (const char* name : {"TMP", "TEMP", "TMPDIR"})  // the last one counts
    if (const auto value = environment_text(name)) base = *value;
  std::vector<fs::path> found;
  const std::string name = host_name(), user = std::to_string(::geteuid());
  for (const std::string& each : {name, name.substr(0, name.find('.'))})
    found.push_back(base / fmt::format("ompi.{}.{}", each, user));
  return found;
}

}  // namespace

bool is_session(const fs::path& path) {
  const std::string name = path.filename().string();
  return (name.starts_with("pid.") || name.starts_with("jf.")) &&
         path.parent_path().filename().string().starts_with("ompi.");
}

std::set<fs::path> mpi_leftovers(pid_t process, bool launcher_gone) {
  const fs::path about = fs::path("/proc") / std::to_string(process);
  std::set<fs::path> found;
  const std::string folder = "/dev/shm/";
  std::ifstream maps(about / "maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find(folder); at != std::string::npos && !line.ends_with(" (deleted)"))
      add_segments(line.substr(at), found);
  const std::string variable = "OMPI_MCA_orte_jobfam_session_dir=";
  std::ifstream environment(about / "environ");
  for (std::string entry; launcher_gone && std::getline(environment, entry, '\0');) {
    if (!entry.starts_with(variable)) continue;
    const fs::path session = entry.substr(variable.size());
    if (is_session(session)) found.insert(session);
  }
  return found;
}

void remove_leftovers(const std::set<fs::path>& leftovers) {
  std::error_code error;     // what is gone already is as good
  constexpr int kTries = 8;  // another process that removes the same may make one of ours fail
  for (const fs::path& path : leftovers) {
    for (int i = 0; i < kTries; ++i) {
      fs::remove_all(path, error);
      if (!error) break;
    }
    if (is_session(path)) fs::remove(path.parent_path(), error);  // unless other sessions are there
  }
}

StartMark::StartMark() {
  const std::string name = fmt::format("{}{}", mark_prefix(), ::getppid());
  if (const auto session = environment_text(kSessionVariable)) {
    if (is_session(*session)) touch(fs::path(*session) / name);
  } else if (environment_integer("PMI_RANK")) {
    mpich_ = fs::path("/dev/shm") / name;
    touch(mpich_);
  }
}

void StartMark::remove() const {
  std::error_code error;
  if (!mpich_.empty()) fs::remove(mpich_, error);
}

bool remove_dead_jobs(const JobFolders& folders, const std::vector<pid_t>& launched) {
  bool all = true;
  for (const fs::path& folder : folders.sessions)
    if (own_file(folder))
      for (const fs::path& session : entries(folder, "pid.")) all &= remove_session(session, folders.memory, launched);
  return remove_mpich(folders.memory) && all;
}

bool remove_dead_jobs(const std::vector<pid_t>& launched) {
  return remove_dead_jobs({.sessions = session_folders()}, launched);
}

}  // namespace lockstep
