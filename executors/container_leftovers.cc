#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include "executors/container.h"
#include "executors/internal/process_tree.h"
#include "trial/clock.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr double kPatienceS = 30;

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

pid_t Spawn(const std::vector<std::string>& words,
            const std::vector<std::string>& environment,
            int out) {
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> env = Pointers(environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

// What a program writes to its standard output; nullopt where it fails or takes too
// long.
std::optional<std::string> OutputOf(const std::vector<std::string>& words,
                                    const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t pid = Spawn(words, environment, to.get());
  to.Reset();
  if (pid < 0) return std::nullopt;
  const Time until = ReadClocks().steady + Seconds(kPatienceS);
  std::string text;
  bool whole = false;
  while (!whole) {
    const double left = ToSeconds(until - ReadClocks().steady);
    pollfd wait{from.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left * 1000) + 1) <= 0) break;
    std::array<char, 4096> part{};
    const ssize_t got = ::read(from.get(), part.data(), part.size());
    if (got <= 0) {
      whole = got == 0;
      break;
    }
    text.append(part.data(), static_cast<size_t>(got));
  }
  if (!whole) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  return whole && status == 0 ? std::optional(text) : std::nullopt;
}

std::set<std::string> LivingTokens() {
  std::set<std::string> tokens;
  for (const pid_t pid : AllProcesses()) {
    if (auto token = ReadProcessToken(pid)) tokens.insert(*std::move(token));
  }
  return tokens;
}

}  // namespace

void RemoveLeftoverContainers(Engine engine,
                              const std::string& sweep_id,
                              const std::vector<std::string>& environment) {
  const std::string program = EngineProgram(engine);
  if (program.empty()) return;
  const std::string prefix = ContainerName(sweep_id + "-");
  const auto names = OutputOf(
      {program, "ps", "--all", "--filter", "name=" + prefix, "--format", "{{.Names}}"},
      environment);
  if (!names) {
    std::fprintf(stderr,
                 "hyperopt executor: %s can not say which containers an earlier "
                 "executor left\n",
                 program.c_str());
    return;
  }
  const std::set<std::string> living = LivingTokens();
  std::vector<std::string> words = {program, "rm", "--force"};
  std::string_view rest = *names;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // The engine's filter finds a name anywhere; another executor of this sweep has
    // clients of its own.
    if (!name.starts_with(prefix)) continue;
    if (living.contains(name.substr(ContainerName("").size()))) continue;
    words.push_back(name);
  }
  if (words.size() > 3 && !OutputOf(words, environment)) {
    std::fprintf(stderr,
                 "hyperopt executor: %s could not remove what an earlier executor "
                 "left\n",
                 program.c_str());
  }
}

}  // namespace hyperopt
