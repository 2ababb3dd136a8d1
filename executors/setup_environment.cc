#include "executors/setup_environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "trial/clock.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

extern char** environ;

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr char kScript[] = "setup.sh";
constexpr char kLog[] = "setup.log";
constexpr char kLeft[] = "setup.env";
constexpr char kAt[] = "setup.at";  // "<line> <command>", of the command that failed
constexpr size_t kShownLog = 400;
constexpr int kLookEveryMs = 5;

// $1 is the script, $2 where the environment goes, $3 where the failing line is named.
// `module` and `conda activate` are shell functions, which a shell has only after it
// has read their files: a login shell has, this one must be told. The trap names the
// script's own line, also where a function that it calls fails.
constexpr char kRunner[] = R"SH(
if [ "$(type -t module)" != function ]; then
  for hyperopt_file in "${MODULESHOME:-/nowhere}/init/bash" "${LMOD_PKG:-/nowhere}/init/bash" \
      /etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/modules/init/bash \
      /usr/share/lmod/lmod/init/bash; do
    if [ -r "$hyperopt_file" ]; then . "$hyperopt_file"; break; fi
  done
fi
if grep -q 'conda *activate' "$1" && [ "$(type -t conda)" != function ]; then
  for hyperopt_file in "${CONDA_EXE:-}" "$(type -P conda)" "$HOME/miniconda3/bin/conda" \
      "$HOME/anaconda3/bin/conda" "$HOME/miniforge3/bin/conda" /opt/conda/bin/conda; do
    if [ -x "$hyperopt_file" ]; then eval "$("$hyperopt_file" shell.bash hook)"; break; fi
  done
fi
unset hyperopt_file
hyperopt_at=$3
hyperopt_left=$2
hyperopt_failed() {
  local status=$1 line=$2 command=$3
  printf '%s %s\n' "$line" "$command" > "$hyperopt_at"
  exit "$status"
}
set -e
. "$1" || exit $?
trap - ERR
set +e
command -p env -0 > "$hyperopt_left.new" && command -p mv "$hyperopt_left.new" "$hyperopt_left"
)SH";

// In front of the user's first line, on the same line, so that lines keep their
// numbers.
constexpr char kTrap[] =
    "trap 'hyperopt_failed \"$?\" \"$LINENO\" \"$BASH_COMMAND\"' ERR; ";

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// What belongs to the shell that ran the lines, and functions, which are no variables
// to a program.
bool IsShellsOwn(std::string_view name) {
  return name == "_" || name == "SHLVL" || name == "PWD" || name == "OLDPWD" ||
         name.starts_with("BASH_FUNC_") || name.starts_with("hyperopt_");
}

pid_t Spawn(const fs::path& cwd,
            const fs::path& folder,
            const std::vector<std::string>& environment) {
  const std::vector<std::string> words = {"bash",
                                          "--noprofile",
                                          "--norc",
                                          "-c",
                                          kRunner,
                                          "hyperopt-setup",
                                          folder / kScript,
                                          folder / kLeft,
                                          folder / kAt};
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> env = Pointers(environment);
  const std::string log = folder / kLog;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(
      &files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addchdir_np(&files, cwd.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, "bash", &files, &attributes, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  if (access(cwd.c_str(), X_OK) != 0) {
    throw EnvironmentError(fmt::format(
        "setup: the folder {} can not be entered; set workdir:", cwd.native()));
  }
  throw EnvironmentError(
      fmt::format("setup: bash can not be started: {}; it runs the lines of setup:",
                  std::strerror(error)));
}

std::vector<std::string> SplitAtNul(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string EndWords(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

SetupRun::SetupRun(const std::string& lines,
                   const fs::path& cwd,
                   const fs::path& folder,
                   const std::vector<std::string>& environment)
    : folder_(folder), before_(environment) {
  for (const char* file : {kLeft, kAt, kLog}) {
    std::error_code absent;
    fs::remove(folder_ / file, absent);
  }
  WriteFileAtomically(
      folder_ / kScript, kTrap + lines + "\n", Durability::kProcess, 0600);
  pid_ = Spawn(cwd, folder_, environment);
}

SetupRun::~SetupRun() {
  if (pid_ < 0) return;
  // Not reaped yet, so the number is still its group's.
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<SetupResult> SetupRun::Wait(double seconds) {
  const Time until = ReadClocks().steady + Seconds(seconds);
  for (;;) {
    int status = 0;
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == pid_ || (got < 0 && errno != EINTR)) {
      pid_ = -1;
      return Result(status);
    }
    if (ReadClocks().steady >= until) return std::nullopt;
    poll(nullptr, 0, kLookEveryMs);
  }
}

SetupResult SetupRun::Result(int status) const {
  SetupResult result;
  const auto left = ReadFile(folder_ / kLeft);
  if (status == 0 && left) {
    for (std::string& variable : SplitAtNul(*left)) {
      if (!IsShellsOwn(NameOf(variable))) {
        result.environment.push_back(std::move(variable));
      }
    }
    for (const std::string& variable : before_) {
      const std::string_view name = NameOf(variable);
      if (name == "PWD" || name == "SHLVL") result.environment.push_back(variable);
    }
    return result;
  }
  const auto at = ReadFile(folder_ / kAt);
  const std::string log(Trim(ReadFile(folder_ / kLog).value_or("")));
  if (at) {
    const size_t blank = at->find(' ');
    result.error = fmt::format("setup: line {}: {}: {}",
                               at->substr(0, blank),
                               Trim(std::string_view(*at).substr(blank + 1)),
                               EndWords(status));
  } else if (status == 0) {
    result.error = "setup: it called `exit`, so its environment is not known";
  } else {
    result.error = fmt::format("setup: {}", EndWords(status));
  }
  if (!log.empty()) {
    result.error +=
        "\n" + (log.size() > kShownLog ? log.substr(log.size() - kShownLog) : log);
  }
  return result;
}

SetupResult RunSetup(const std::string& lines,
                     const fs::path& cwd,
                     const fs::path& folder,
                     const std::vector<std::string>& environment) {
  SetupRun run(lines, cwd, folder, environment);
  constexpr double kVeryLong = 1e6;
  return run.Wait(kVeryLong).value_or(SetupResult{{}, "setup: it does not end"});
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  for (char** at = environ; *at != nullptr; ++at) environment.emplace_back(*at);
  return environment;
}

std::vector<std::string> ChangedVariables(const std::vector<std::string>& before,
                                          const std::vector<std::string>& after) {
  std::map<std::string_view, std::string_view> old;
  for (const std::string& variable : before) old[NameOf(variable)] = variable;
  std::vector<std::string> names;
  for (const std::string& variable : after) {
    const std::string_view name = NameOf(variable);
    const auto known = old.find(name);
    if (known == old.end() || known->second != variable) names.emplace_back(name);
    if (known != old.end()) old.erase(known);
  }
  for (const auto& [name, variable] : old) {
    if (!IsShellsOwn(name)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hyperopt
