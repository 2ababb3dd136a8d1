#include "search/internal/beside_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "trial/errors.h"

extern char** environ;

namespace hyperopt::internal {
namespace {

// {read, write}; neither is inherited by what else this process starts.
std::pair<UniqueFd, UniqueFd> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw EnvironmentError(std::string("pipe: ") + std::strerror(errno));
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

BesideProcess StartBeside(std::vector<std::string> words) {
  auto [life_read, life_write] = MakePipe();
  auto [words_read, words_write] = MakePipe();
  words.insert(words.begin(), "hyperopt");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, life_read.get(), 0);
  posix_spawn_file_actions_adddup2(&files, words_write.get(), 1);
  posix_spawn_file_actions_adddup2(&files, words_write.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  BesideProcess process;
  const int error = posix_spawn(
      &process.pid, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw EnvironmentError(
        words[1] + " can not be started beside the sweep: " + std::strerror(error));
  }
  process.life = std::move(life_write);
  process.words = std::move(words_read);
  return process;
}

}  // namespace hyperopt::internal
