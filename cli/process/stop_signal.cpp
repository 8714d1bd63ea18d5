#include "cli/process/stop_signal.hpp"

#include <csignal>

namespace lockstep::cli {

namespace {

volatile std::sig_atomic_t requested_signal = 0;

extern "C" void note_request(int number) { requested_signal = number; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note_request;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

bool stop_requested() { return requested_signal != 0; }

}  // namespace lockstep::cli
