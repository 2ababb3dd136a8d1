#include "search/hooks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "executors/local_resources.h"
#include "search/status.h"
#include "trial/command.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr double kMostS = 30;
// One that runs and the one of the end.
constexpr double kMostAtEndS = 65;
constexpr double kBestEveryS = 1;
constexpr uintmax_t kLogKept = 1 << 20;

// Its standard input: a file of its own in memory, so that nobody waits for a reader.
UniqueFd InputOf(const std::string& text) {
  UniqueFd fd(memfd_create("hook", MFD_CLOEXEC));
  for (size_t at = 0; fd.get() >= 0 && at < text.size();) {
    const ssize_t wrote = ::write(fd.get(), text.data() + at, text.size() - at);
    if (wrote <= 0) return {};
    at += static_cast<size_t>(wrote);
  }
  if (fd.get() >= 0) ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

// After a fork, so that it can be bound to this process: one that is killed leaves no
// hook behind. Nothing but system calls: another thread may hold any lock.
[[noreturn]] void BecomeHook(char** argv, int input, const char* log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int output = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  dup2(input, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (output >= 0) dup2(output, STDERR_FILENO);
  execvp(argv[0], argv);
  const char* why = strerrordesc_np(errno);
  for (const char* text : {"hyperopt: the hook can not be started: ", why, "\n"}) {
    if (text != nullptr && ::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  _exit(127);
}

// 0 where there is no room for a process.
pid_t Spawn(std::vector<std::string> words, int input, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeHook(argv.data(), input, log.c_str(), parent);
  // Done here too, so that a signal to the group finds it whoever is first.
  if (pid > 0) setpgid(pid, pid);
  return std::max<pid_t>(pid, 0);
}

std::string ExitText(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

HookRunner::HookRunner(const SearchConfig& config,
                       std::filesystem::path dir,
                       std::filesystem::path config_dir)
    : hooks_(config.hooks),
      dir_(std::move(dir)),
      config_dir_(std::move(config_dir)),
      sweep_name_(config.name),
      stuck_s_(config.executor.stuck_s) {}

HookRunner::~HookRunner() { Abandon(); }

const std::vector<std::string>& HookRunner::WordsOf(Kind kind) const {
  if (kind == Kind::kBest) return hooks_.on_best;
  return kind == Kind::kEnd ? hooks_.on_end : hooks_.on_stuck;
}

std::string HookRunner::EventText(const char* event,
                                  const Controller& controller,
                                  const std::string& why,
                                  Now now) const {
  const SweepStatus status = StatusOf(
      controller, controller.alive_s(now), controller.Counts().finished(), now);
  OrderedJson json = {{"event", event},
                      {"time", now.wall},
                      {"host", HostName()},
                      {"dir", dir_.string()},
                      {"why", why}};
  json.update(StatusToJson(status));
  if (status.best) {
    const Params* params = controller.FindParams(status.best->trial);
    if (params != nullptr) json["best"]["params"] = ParamsToJson(*params);
  }
  return DumpJson(json) + "\n";
}

void HookRunner::OnTurn(const Controller& controller, Now now) {
  if (!hooks_.any()) return;
  const std::optional<TrialId> best = controller.incumbent();
  if (best && !hooks_.on_best.empty()) {
    const Objective value = BestOf(controller).value;
    // What a resumed sweep brings along is no news.
    const bool news = best_ != best || !(best_value_ == value);
    best_ = best;
    best_value_ = value;
    if (news && began_) Wait(Kind::kBest, EventText("best", controller, "", now));
  }
  began_ = true;
  NoteStuck(controller, StuckWhy(controller, now), now);
  Poll(now.steady);
}

// What keeps the sweep from going on, "" where nothing does.
std::string HookRunner::StuckWhy(const Controller& controller, Now) {
  if (hooks_.on_stuck.empty() || controller.stopping() || controller.paused())
    return "";
  const auto& members = controller.fleet().members();
  const bool heard = std::any_of(members.begin(), members.end(), [](const auto& item) {
    return item.second.present && !item.second.silent;
  });
  if (!heard) return "no executor is heard from";
  if (controller.Counts().running > 0) return "";
  // Worked out only once it is to be told.
  return stuck_since_ && !stuck_said_ ? controller.WhatWaits() : "nothing runs";
}

void HookRunner::NoteStuck(const Controller& controller,
                           const std::string& why,
                           Now now) {
  if (why.empty()) {
    stuck_since_.reset();
    stuck_said_ = false;
    return;
  }
  if (!stuck_since_) stuck_since_ = now.steady;
  if (stuck_said_ || now.steady - *stuck_since_ < Seconds(stuck_s_)) return;
  stuck_said_ = true;
  if (!hooks_.on_stuck.empty()) {
    Wait(Kind::kStuck, EventText("stuck", controller, why, now));
  }
}

void HookRunner::OnHeld(const Controller& controller, const std::string& why, Now now) {
  if (!hooks_.any()) return;
  NoteStuck(controller, "the record can not be written: " + why, now);
  Poll(now.steady);
}

void HookRunner::OnEnd(const Controller& controller, const SweepEnd& end, Now now) {
  if (hooks_.on_end.empty()) return;
  OrderedJson json = ParseJson(EventText("end", controller, end.why, now));
  json["code"] = static_cast<int>(end.code);
  Wait(Kind::kEnd, DumpJson(json) + "\n");
  Poll(now.steady);
}

void HookRunner::Wait(Kind kind, std::string event) {
  waiting_[kind] = std::move(event);
}

void HookRunner::Poll(Time now) {
  Reap(now);
  if (pid_ != 0 || waiting_.empty()) return;
  for (const auto& [kind, event] : waiting_) {
    // A sweep that gets better a thousand times a second is told of once.
    const bool last = waiting_.contains(Kind::kEnd);
    if (kind == Kind::kBest && next_best_ && now < *next_best_ && !last) continue;
    if (kind == Kind::kBest) next_best_ = now + Seconds(kBestEveryS);
    const std::string text = event;
    const Kind what = kind;
    waiting_.erase(what);
    Start(what, text, now);
    return;
  }
}

void HookRunner::Start(Kind kind, const std::string& event, Time now) {
  running_ = kind == Kind::kBest  ? "on_best"
             : kind == Kind::kEnd ? "on_end"
                                  : "on_stuck";
  const std::filesystem::path log = dir_ / "hooks.log";
  std::error_code error;
  if (std::filesystem::file_size(log, error) > kLogKept && !error) {
    std::filesystem::rename(log, dir_ / "hooks.log.1", error);
  }
  TemplateValues values;
  values.names = {{"config.dir", config_dir_.string()}, {"sweep.name", sweep_name_}};
  values.env = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  try {
    const UniqueFd input = InputOf(event);
    pid_ = Spawn(ExpandCommand(WordsOf(kind), values), input.get(), log.string());
    started_ = now;
    if (pid_ == 0) Log("can not be started: no process can be made");
  } catch (const Error& problem) {
    Log(fmt::format("can not be started: {}", problem.what()));
  }
}

void HookRunner::Reap(Time now) {
  if (pid_ == 0) return;
  siginfo_t info{};
  // The leader stays a zombie until its group is gone, so the signal hits nobody else.
  const bool ended =
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_;
  if (!ended) {
    // One that can not die just now (a dead file system) is waited for by nobody.
    if (now - started_ <= Seconds(kMostS) || killed_) return;
    killed_ = true;
    Log(fmt::format("killed: it ran longer than {} s", kMostS));
    kill(-pid_, SIGKILL);
    return;
  }
  kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, WNOHANG);
  pid_ = 0;
  if (status != 0 && !std::exchange(killed_, false)) Log(ExitText(status));
}

void HookRunner::Finish(int signals_fd) {
  const Time until = ReadClocks().steady + Seconds(kMostAtEndS);
  while (!idle()) {
    if (ReadClocks().steady > until) return Abandon();
    pollfd fd{signals_fd, POLLIN, 0};
    ::poll(&fd, 1, 100);
    signalfd_siginfo info;
    while (::read(signals_fd, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) Abandon();
    }
    Poll(ReadClocks().steady);
  }
}

void HookRunner::Abandon() {
  waiting_.clear();
  if (pid_ == 0) return;
  Log("killed: hyperopt ends");
  kill(-pid_, SIGKILL);
  pid_ = 0;
}

void HookRunner::Log(const std::string& line) const {
  const UniqueFd fd(::open(
      (dir_ / "hooks.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const std::string text = fmt::format("hyperopt: {}: {}\n", running_, line);
  if (fd.get() < 0 || ::write(fd.get(), text.data(), text.size()) < 0) return;
}

}  // namespace hyperopt
