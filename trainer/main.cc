#include <unistd.h>

#include <atomic>
#include <csignal>

#include "trainer/cli.h"

namespace {

// The one thing a signal handler may touch.
std::atomic<bool> stop{false};

// A stop is decided by all ranks together before the next step. Where that can not be
// (a peer stands still), SIGALRM ends the process.
constexpr unsigned kStopSeconds = 20;

extern "C" void OnStop(int) {
  stop = true;
  ::alarm(kStopSeconds);
}

}  // namespace

int main(int argc, char** argv) {
  struct sigaction action {};
  action.sa_handler = OnStop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  return hyperopt::RunTrainer(argc, argv, stop);
}
