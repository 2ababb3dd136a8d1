// A trial that keeps a log of its own, so that an audit can compare the record with
// what really happened: LOG gets "start|end <trial> <attempt> <pid>", fsynced, in one
// write each.
//   side_trial LOG REPORTS MILLISECONDS
// Reports `step` and `loss` (a function of the parameters), half a line at a time. With
// SIDE_TRIAL_DIES="TRIAL STEP LOG" the first attempt of that trial kills itself between
// the halves of that step, and says so in LOG.
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string Env(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

void Append(const char* file, const std::string& text, bool durable) {
  const int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 ||
      write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    perror(file);
    _exit(9);
  }
  if (durable) fsync(fd);
  close(fd);
}

void Note(const char* log, const char* what) {
  Append(log,
         std::string(what) + " " + Env("HYPEROPT_TRIAL") + " " +
             Env("HYPEROPT_ATTEMPT") + " " + std::to_string(getpid()) + "\n",
         true);
}

void Wait(long milliseconds) {
  const timespec time{milliseconds / 1000, (milliseconds % 1000) * 1000000};
  nanosleep(&time, nullptr);
}

void MayDie(int step) {
  long trial = -1;
  int at = 0, file = 0;
  const std::string plan = Env("SIDE_TRIAL_DIES");
  if (sscanf(plan.c_str(), "%ld %d %n", &trial, &at, &file) != 2) return;
  if (step != at || Env("HYPEROPT_ATTEMPT") != "1") return;
  if (Env("HYPEROPT_TRIAL") != std::to_string(trial)) return;
  Append(plan.c_str() + file, "rank.in_a_line\n", true);
  kill(getpid(), SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* log = argv[1];
  const int reports = atoi(argv[2]);
  const long milliseconds = atol(argv[3]);
  const double x = atof(Env("HYPEROPT_PARAM_X").c_str());
  Note(log, "start");
  for (int step = 1; step <= reports; ++step) {
    Wait(milliseconds);
    char line[100];
    snprintf(
        line, sizeof line, "{\"step\": %d, \"loss\": %.17g}\n", step, x + 1.0 / step);
    const std::string text = line;
    const std::string file = Env("HYPEROPT_REPORT");
    Append(file.c_str(), text.substr(0, 5), false);
    MayDie(step);
    Append(file.c_str(), text.substr(5), false);
  }
  Note(log, "end");
  return 0;
}
