#include "report.hpp"

#include <cuda_runtime.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "grid.hpp"
#include "memory.hpp"

namespace cuda_emulator {

const char* running_kernel = nullptr;

namespace {

struct sigaction previous_action;

// Everything in here is called from a signal handler: only snprintf into a buffer and write.
void print(const char* what) {
  char line[768];
  int length = 0;
  if (running_kernel != nullptr)
    length = std::snprintf(line, sizeof line, "cuda emulator: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s\n",
                           running_kernel, block_index.x, block_index.y, block_index.z, thread_index.x, thread_index.y,
                           thread_index.z, what);
  else
    length = std::snprintf(line, sizeof line, "cuda emulator: %s\n", what);
  const auto bytes = static_cast<std::size_t>(length < int(sizeof line) ? length : int(sizeof line) - 1);
  if (::write(STDERR_FILENO, line, bytes) < 0) std::_Exit(1);
}

void on_fault(int signal, siginfo_t* info, void*) {
  char what[512];
  if (!describe_fault(info->si_addr, what, sizeof what) && !describe_block_fault(info->si_addr, what, sizeof what)) {
    // Not ours: leave it to whoever was there before.
    ::sigaction(signal, &previous_action, nullptr);
    return;
  }
  print(what);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace

void fail(const std::string& what) {
  print(what.c_str());
  std::abort();
}

void catch_faults() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    static char stack[32 * 1024];  // for a thread that has none left
    const stack_t alternative = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    ::sigaltstack(&alternative, nullptr);
    ::sigaction(SIGSEGV, &action, &previous_action);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace cuda_emulator
