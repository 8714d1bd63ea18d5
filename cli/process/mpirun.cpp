#include "cli/process/mpirun.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

extern char** environ;

namespace lockstep::cli {

namespace {

/// For an mpirun whose name does not say which library it belongs to: the first line of --version does.
bool is_open_mpi(const std::string& program) {
  const Captured said = run_captured({program, "--version"});
  const std::string text = said.out + said.err;
  return text.substr(0, text.find('\n')).find("Open MPI") != std::string::npos;
}

/// Variables that other hosts should know too; Open MPI passes none on by itself.
std::vector<std::string> own_variables() {
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    if (text.starts_with("LOCKSTEP_") || text.starts_with("OMP_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::string host_list(const std::vector<Host>& hosts) {
  std::vector<std::string> words;
  for (const Host& host : hosts) words.push_back(fmt::format("{}:{}", host.name, host.slots));
  return fmt::format("{}", fmt::join(words, ","));
}

/// The command of the run; a restart goes on with it.
std::vector<std::string> run_words(const std::vector<std::string>& command, bool resume) {
  std::vector<std::string> words = command;
  if (!resume) return words;
  std::erase(words, "--overwrite");
  if (std::find(words.begin(), words.end(), "--resume") == words.end()) words.emplace_back("--resume");
  return words;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorCode::usage, fmt::format("--hosts {}: cannot be read", file));
  std::vector<Host> hosts;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, rest, more;
    if (!(words >> name)) continue;
    words >> rest >> more;
    std::string slots = "1";
    if (const auto colon = name.find(':'); colon != std::string::npos) {
      slots = name.substr(colon + 1);
      name.resize(colon);
    } else if (rest.starts_with("slots=")) {
      slots = rest.substr(6);
      rest.clear();
    }
    Host host{name, 0};
    const auto [end, error] = std::from_chars(slots.data(), slots.data() + slots.size(), host.slots);
    if (error != std::errc() || end != slots.data() + slots.size() || host.slots < 1 || !rest.empty() || name.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("--hosts {}: line {}: expected \"name slots=4\" or \"name:4\", found \"{}\"", file,
                              number, one_line(line)));
    hosts.push_back(host);
  }
  if (hosts.empty()) throw Error(ErrorCode::usage, fmt::format("--hosts {}: names no host", file));
  return hosts;
}

Mpirun find_mpirun(const std::string& wanted) {
  // Debian installs both under names of their own; elsewhere there is one, which must be asked.
  for (const bool open_mpi : {true, false}) {
    if (!wanted.empty() && (wanted == "openmpi") != open_mpi) continue;
    if (const auto program = find_program(open_mpi ? "mpirun.openmpi" : "mpirun.mpich")) return {*program, open_mpi};
  }
  if (const auto program = find_program("mpirun")) {
    const bool open_mpi = is_open_mpi(*program);
    if (wanted.empty() || (wanted == "openmpi") == open_mpi) return {*program, open_mpi};
  }
  if (wanted == "mpich") throw Error(ErrorCode::usage, "MPICH's mpirun is not installed: sudo apt-get install mpich");
  throw Error(ErrorCode::usage, fmt::format("{}mpirun is not installed: sudo apt-get install openmpi-bin",
                                            wanted.empty() ? "" : "Open MPI's "));
}

StartCommand start_command(const Mpirun& mpirun, const MpirunOptions& options, int ranks,
                           const std::vector<Host>& hosts, bool resume, const std::string& mark) {
  StartCommand start{.words = {mpirun.program, "-n", std::to_string(ranks)},
                     .environment = {{"LOCKSTEP_LAUNCH", mark}}};
  const auto add = [&](std::initializer_list<std::string> more) { start.words.insert(start.words.end(), more); };
  if (mpirun.open_mpi) {
    // More ranks than cores are not refused; where there are enough it changes nothing.
    add({"--oversubscribe", "--bind-to", options.bind_to});
    if (!hosts.empty()) add({"--host", host_list(hosts)});
    std::vector<std::string> variables = own_variables();
    std::erase(variables, "LOCKSTEP_LAUNCH");
    variables.emplace_back("LOCKSTEP_LAUNCH");
    for (const std::string& name : variables) add({"-x", name});
    if (::geteuid() == 0) {
      start.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
      start.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    if (!options.agent.empty()) start.environment.emplace_back("OMPI_MCA_plm_rsh_agent", options.agent);
    if (!options.interface.empty())
      for (const char* name : {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"})
        start.environment.emplace_back(name, options.interface);
    // mpirun and its daemons find out that the other one is cut off after 11 s, not after 8 min.
    for (const auto& [name, value] : {std::pair{"time", "5"}, {"intvl", "2"}, {"probes", "3"}})
      start.environment.emplace_back(fmt::format("OMPI_MCA_oob_tcp_keepalive_{}", name), value);
  } else {
    if (options.bind_to != "none") add({"-bind-to", options.bind_to});
    if (!hosts.empty()) add({"-hosts", host_list(hosts)});
    if (!options.interface.empty()) add({"-iface", options.interface});
    if (!options.agent.empty()) start.environment.emplace_back("HYDRA_LAUNCHER_EXEC", options.agent);
  }
  add({own_program()});
  for (const std::string& word : run_words(options.command, resume)) add({word});
  return start;
}

std::string why_no_ranks() {
  try {
    static_cast<void>(find_mpirun(""));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Captured run_on_ranks(int ranks, const MpirunOptions& launch, const std::string& mark, CaptureOptions options) {
  const std::vector<Host> hosts = launch.hosts.empty() ? std::vector<Host>{} : read_hosts(launch.hosts);
  const StartCommand start = start_command(find_mpirun(launch.mpi), launch, ranks, hosts, false, mark);
  options.environment.insert(options.environment.begin(), start.environment.begin(), start.environment.end());
  return run_captured(start.words, options);
}

}  // namespace lockstep::cli
