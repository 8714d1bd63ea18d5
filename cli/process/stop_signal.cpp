#include "cli/process/stop_signal.hpp"

#include <csignal>

namespace lockstep::cli {

namespace {

volatile std::sig_atomic_t wished_signal = 0;

extern "C" void note_wished_signal(int number) { wished_signal = number; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note_wished_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

bool stop_requested() { return wished_signal != 0; }

}  // namespace lockstep::cli
