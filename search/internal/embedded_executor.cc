#include "search/internal/embedded_executor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>

#include <csignal>
#include <cstring>

#include "trial/errors.h"
#include "trial/fs.h"

extern char** environ;

namespace hyperopt {
namespace {

std::vector<std::string> Words(const EmbeddedOptions& options) {
  std::vector<std::string> words = {"hyperopt",
                                    "executor",
                                    "--embedded",
                                    options.sweep_dir.string(),
                                    "--state",
                                    options.state_dir.string(),
                                    "--sweep-id",
                                    options.sweep_id,
                                    "--endpoint",
                                    options.endpoint};
  if (options.fresh) words.push_back("--fresh-record");
  const ResourceFlags& flags = options.resources;
  const auto add = [&](const char* name, const std::string& value) {
    words.push_back(name);
    words.push_back(value);
  };
  if (flags.cpus) add("--cpus", fmt::format("{}", *flags.cpus));
  if (flags.gpus) add("--gpus", *flags.gpus);
  if (flags.memory) add("--memory", std::to_string(*flags.memory));
  for (const std::string& label : flags.labels) add("--label", label);
  return words;
}

}  // namespace

pid_t StartEmbeddedExecutor(const EmbeddedOptions& options) {
  std::vector<std::string> words = Words(options);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string log = (options.sweep_dir / "executor.log").string();
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(
      &files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw EnvironmentError(fmt::format(
        "the executor can not be started ({}): {}", log, std::strerror(error)));
  }
  return pid;
}

std::string LastWordsOfExecutor(const std::filesystem::path& sweep_dir) {
  constexpr size_t kMost = 600;
  std::string text = ReadFile(sweep_dir / "executor.log").value_or("");
  if (text.size() > kMost) text = text.substr(text.size() - kMost);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace hyperopt
