#include "executors/internal/rank_spawn.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr std::string_view kTokenName = "HYPEROPT_TOKEN=";
constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

std::string PathOf(const std::vector<std::string>& env) {
  for (const std::string& entry : env) {
    if (entry.starts_with("PATH=")) return entry.substr(5);
  }
  return kDefaultPath;
}

bool IsFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// posix_spawnp would look in this process's PATH. The first file that may be run, else
// the first file, for its own error; nullopt where there is none.
std::optional<std::string> FindProgram(const RankSpec& spec) {
  const std::string& name = spec.argv[0];
  if (name.find('/') != std::string::npos) return name;
  const std::string path = PathOf(spec.env);
  std::optional<std::string> not_runnable;
  std::string_view rest = path;
  while (true) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    std::string candidate(rest.substr(0, colon));
    if (candidate.empty() || candidate[0] != '/')
      candidate = spec.cwd + "/" + candidate;
    candidate.append("/").append(name);
    if (access(candidate.c_str(), X_OK) == 0) {
      if (IsFile(candidate)) return candidate;
    } else if (!not_runnable && IsFile(candidate)) {
      not_runnable = candidate;
    }
    if (colon == rest.size()) return not_runnable;
    rest.remove_prefix(colon + 1);
  }
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 2);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  return pointers;
}

class FileActions {
 public:
  explicit FileActions(const RankSpec& spec) {
    posix_spawn_file_actions_init(&actions_);
    constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT;
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(
        &actions_, 1, spec.stdout_path.c_str(), kAppend, 0644);
    posix_spawn_file_actions_addopen(
        &actions_, 2, spec.stderr_path.c_str(), kAppend, 0644);
    posix_spawn_file_actions_addchdir_np(&actions_, spec.cwd.c_str());
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// posix_spawn has no word for affinity, so the child inherits ours: set for the moment
// of its birth. CPUs that are gone meanwhile leave it where we are.
class PinnedWhileSpawning {
 public:
  explicit PinnedWhileSpawning(const std::vector<int32_t>& cpus)
      : before_(nullptr, FreeSet), wanted_(nullptr, FreeSet) {
    if (cpus.empty()) return;
    size_ = CPU_ALLOC_SIZE(kMostCpus);
    before_.reset(CPU_ALLOC(kMostCpus));
    wanted_.reset(CPU_ALLOC(kMostCpus));
    if (!before_ || !wanted_) return;
    CPU_ZERO_S(size_, wanted_.get());
    for (const int32_t cpu : cpus) CPU_SET_S(cpu, size_, wanted_.get());
    pinned_ = sched_getaffinity(0, size_, before_.get()) == 0 &&
              sched_setaffinity(0, size_, wanted_.get()) == 0;
  }
  ~PinnedWhileSpawning() {
    if (pinned_) sched_setaffinity(0, size_, before_.get());
  }
  PinnedWhileSpawning(const PinnedWhileSpawning&) = delete;
  PinnedWhileSpawning& operator=(const PinnedWhileSpawning&) = delete;

 private:
  static constexpr int kMostCpus = 1 << 16;
  static void FreeSet(cpu_set_t* set) { CPU_FREE(set); }

  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> before_;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> wanted_;
  size_t size_ = 0;
  bool pinned_ = false;
};

// A session of its own, no signal blocked. All signals are at their defaults already:
// the keeper blocks and ignores none.
int Spawn(const std::string& program,
          const RankSpec& spec,
          char* const* argv,
          char* const* env,
          pid_t* pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  // To set what is set already costs one call a signal; not to name it, two.
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const FileActions actions(spec);
  const int error =
      posix_spawn(pid, program.c_str(), actions.get(), &attributes, argv, env);
  posix_spawnattr_destroy(&attributes);
  return error;
}

std::string TooLong(const RankSpec& spec, const char* const* env) {
  size_t total = 0;
  size_t longest = 0;
  for (const std::string& word : spec.argv) {
    total += word.size() + 1;
    longest = std::max(longest, word.size());
  }
  for (; *env != nullptr; ++env) {
    total += std::strlen(*env) + 1;
    longest = std::max(longest, std::strlen(*env));
  }
  return fmt::format(
      "{}: its command and environment are too long to start it ({} KiB in all, the "
      "longest word {} KiB; one word may have 128 KiB); let it read large values from "
      "the file named by $HYPEROPT_PARAMS",
      spec.argv[0],
      total / 1024,
      longest / 1024);
}

std::string WhyProgramFailed(const RankSpec& spec,
                             const std::string& program,
                             const char* const* env,
                             int error) {
  switch (error) {
    case E2BIG:
      return TooLong(spec, env);
    case ENOENT:
      if (access(program.c_str(), F_OK) == 0 || program[0] != '/') {
        return fmt::format(
            "{}: not found, or the interpreter that its first line names is missing "
            "(looked from {}); check the path in command:",
            program,
            spec.cwd);
      }
      return fmt::format("{}: no such program; check the path in command:", program);
    case EACCES:
      return fmt::format(
          "{}: may not be run: {}; make it executable (chmod +x), or put its "
          "interpreter first in command:",
          program,
          std::strerror(error));
    case ENOEXEC:
      return fmt::format(
          "{}: is no program this machine can run; begin a script with #! and its "
          "interpreter, or put the interpreter first in command:",
          program);
    case EAGAIN:
    case ENOMEM:
      return fmt::format(
          "{}: the system has no room for another process: {}; raise its limit "
          "(ulimit -u) or lower max_concurrent_trials",
          program,
          std::strerror(error));
    default:
      return fmt::format("{}: could not be started: {}", program, std::strerror(error));
  }
}

// posix_spawn says what failed, not where.
std::string WhyNotStarted(const RankSpec& spec,
                          const std::string& program,
                          const char* const* env,
                          int error) {
  struct stat status {};
  if (stat(spec.cwd.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      access(spec.cwd.c_str(), X_OK) != 0) {
    return fmt::format(
        "{}: the folder to run it in can not be entered: {}: {}; make it or set "
        "workdir:",
        program,
        spec.cwd,
        std::strerror(error));
  }
  for (const std::string& path : {spec.stdout_path, spec.stderr_path}) {
    const UniqueFd fd(
        open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) {
      return fmt::format("{}: its output file can not be opened: {}: {}",
                         program,
                         path,
                         std::strerror(errno));
    }
  }
  return WhyProgramFailed(spec, program, env, error);
}

}  // namespace

std::string KeeperComm(const std::string& sweep_id) {
  return "keeper-" + sweep_id.substr(0, 8);
}
std::string UnbornComm(const std::string& sweep_id) {
  return "unborn-" + sweep_id.substr(0, 8);
}

SpawnResult StartRank(const RankSpec& spec, const std::string& token) {
  SpawnResult result;
  if (spec.argv.empty() || spec.argv[0].empty()) {
    result.error = "the command is empty; name a program in command:";
    return result;
  }
  const std::optional<std::string> program = FindProgram(spec);
  if (!program) {
    result.error = fmt::format(
        "{}: not found in PATH; write its whole path in command:, or set PATH in env:",
        spec.argv[0]);
    return result;
  }
  std::vector<char*> argv = Pointers(spec.argv);
  argv.push_back(nullptr);
  std::vector<char*> env = Pointers(spec.env);
  std::erase_if(
      env, [](const char* e) { return std::string_view(e).starts_with(kTokenName); });
  std::string token_entry = std::string(kTokenName) + token;
  env.push_back(token_entry.data());
  env.push_back(nullptr);
  int error = 0;
  {
    const PinnedWhileSpawning pinned(spec.cpus);
    error = Spawn(*program, spec, argv.data(), env.data(), &result.pid);
  }
  if (error != 0) {
    result.pid = -1;
    result.error = WhyNotStarted(spec, *program, env.data(), error);
  }
  return result;
}

}  // namespace hyperopt
