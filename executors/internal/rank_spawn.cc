#include "executors/internal/rank_spawn.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
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

class CpuSet {
 public:
  explicit CpuSet(const std::vector<int32_t>& cpus)
      : set_(cpus.empty() ? nullptr : CPU_ALLOC(kMost), FreeSet) {
    if (!set_) return;
    CPU_ZERO_S(size(), set_.get());
    for (const int32_t cpu : cpus) CPU_SET_S(cpu, size(), set_.get());
  }
  const cpu_set_t* get() const { return set_.get(); }  // null: all that we have
  static size_t size() { return CPU_ALLOC_SIZE(kMost); }

 private:
  static constexpr int kMost = 1 << 16;
  static void FreeSet(cpu_set_t* set) { CPU_FREE(set); }
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

// What a rank's process is born with. It has this process's memory until it executes
// its program, so that it only reads what is ready here and makes system calls.
struct Birth {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const RankSpec* spec = nullptr;
  const cpu_set_t* cpus = nullptr;
  int error = 0;  // of the step that failed
};

int OpenAs(int fd, const char* path, int flags) {
  const int opened = open(path, flags | O_CLOEXEC, 0644);
  if (opened < 0) return -1;
  // A descriptor that came out right keeps its flag.
  return opened == fd ? fcntl(fd, F_SETFD, 0) : dup2(opened, fd);
}

// A session of its own, no signal blocked. All signals are at their defaults already:
// the keeper blocks and ignores none. CPUs that are gone leave it where we are.
int BecomeRank(void* argument) {
  auto& birth = *static_cast<Birth*>(argument);
  constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT;
  sigset_t none;
  sigemptyset(&none);
  setsid();
  if (birth.cpus != nullptr) sched_setaffinity(0, CpuSet::size(), birth.cpus);
  if (OpenAs(STDIN_FILENO, "/dev/null", O_RDONLY) >= 0 &&
      OpenAs(STDOUT_FILENO, birth.spec->stdout_path.c_str(), kAppend) >= 0 &&
      OpenAs(STDERR_FILENO, birth.spec->stderr_path.c_str(), kAppend) >= 0 &&
      chdir(birth.spec->cwd.c_str()) == 0 &&
      sigprocmask(SIG_SETMASK, &none, nullptr) == 0) {
    execve(birth.program, birth.argv, birth.env);
  }
  birth.error = errno;
  return 127;
}

// 0, or what went wrong. As posix_spawn does it, with the CPUs that it has no word for
// and without a call for each signal: short trials feel both. We stand still until the
// program is executed.
int Spawn(Birth* birth, pid_t* pid) {
  constexpr size_t kStack = 64 << 10;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
  *pid =
      clone(BecomeRank, stack.get() + kStack, CLONE_VM | CLONE_VFORK | SIGCHLD, birth);
  if (*pid < 0) return errno;
  if (birth->error != 0) waitpid(*pid, nullptr, 0);
  return birth->error;
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
  Birth birth;
  birth.program = program->c_str();
  birth.argv = argv.data();
  birth.env = env.data();
  birth.spec = &spec;
  const CpuSet cpus(spec.cpus);
  birth.cpus = cpus.get();
  const int error = Spawn(&birth, &result.pid);
  if (error != 0) {
    result.pid = -1;
    result.error = WhyNotStarted(spec, *program, env.data(), error);
  }
  return result;
}

}  // namespace hyperopt
