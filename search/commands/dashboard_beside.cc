#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "search/commands/dashboard.h"
#include "search/internal/beside_process.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// Its first line: where it is, or why it is not.
std::string ReadLine(int fd) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t got = read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') return line;
    line += c;
  }
}

}  // namespace

DashboardBeside::DashboardBeside(const std::filesystem::path& dir, int port) {
  internal::BesideProcess process = internal::StartBeside(
      {"dashboard", dir.string(), "--port", std::to_string(port), "--beside"});
  pid_ = process.pid;
  life_ = std::move(process.life);
  const std::string line = ReadLine(process.words.get());
  if (line.starts_with("dashboard at ")) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  waitpid(std::exchange(pid_, 0), nullptr, 0);
  constexpr std::string_view kOwnName = "hyperopt: ";
  throw EnvironmentError(line.starts_with(kOwnName) ? line.substr(kOwnName.size())
                                                    : "the dashboard died: " + line);
}

DashboardBeside::~DashboardBeside() {
  life_.Reset();
  if (pid_ == 0) return;
  // It may be at work for a page; nobody waits for that.
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);
  for (int look = 0; look < 100 && waitpid(pid_, nullptr, WNOHANG) == 0; ++look) {
    usleep(20'000);
  }
  if (waitpid(pid_, nullptr, WNOHANG) == 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

}  // namespace hyperopt
