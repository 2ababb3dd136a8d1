#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "search/commands/dashboard.h"
#include "trial/errors.h"

extern char** environ;

namespace hyperopt {
namespace {

// {read, write}; neither is inherited by what else this process starts.
std::pair<UniqueFd, UniqueFd> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw EnvironmentError(std::string("pipe: ") + std::strerror(errno));
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

pid_t Spawn(std::vector<std::string> words, int input, int output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  // In a session of its own: Ctrl-C is for the sweep, which is still to be seen while
  // it ends.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw EnvironmentError(std::string("the dashboard can not be started: ") +
                           std::strerror(error));
  }
  return pid;
}

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
  auto [life_read, life_write] = MakePipe();
  auto [words_read, words_write] = MakePipe();
  pid_ = Spawn({"hyperopt",
                "dashboard",
                dir.string(),
                "--port",
                std::to_string(port),
                "--beside"},
               life_read.get(),
               words_write.get());
  words_write.Reset();
  life_ = std::move(life_write);
  const std::string line = ReadLine(words_read.get());
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
