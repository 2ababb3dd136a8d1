#include "executors/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <map>

#include "executors/attempt_folder.h"
#include "executors/codec.h"
#include "executors/executor.h"
#include "executors/internal/followed_run.h"
#include "executors/keeper.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/fs.h"

extern char** environ;

namespace hyperopt {
namespace {

// Sizes are the truth, inotify is a hint (network file systems, instance limits).
constexpr double kLookEveryS = 0.25;
// A trial that ends at once is read at its end and never watched.
constexpr double kFirstLookS = 0.02;
// Many reports in a row are one look.
constexpr double kLookAgainS = 0.005;
constexpr double kLookLaterS = 0.05;
constexpr double kLogLookEveryS = 2;
constexpr int64_t kReadAtOnce = 1 << 20;
constexpr size_t kFlushAt = 1 << 20;
constexpr int kForceQuitSignals = 2;
constexpr double kSayUnansweredS = 5;

UniqueFd BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> env;
  for (char** at = environ; *at != nullptr; ++at) env.emplace_back(*at);
  return env;
}

std::string SweepIn(const std::optional<std::string>& id_text) {
  return id_text ? id_text->substr(0, id_text->find(' ')) : "";
}

std::optional<ExecutorId> ReadId(const std::filesystem::path& file,
                                 const std::string& sweep_id) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text) return std::nullopt;
  const size_t space = text->find(' ');
  if (space == std::string::npos) return std::nullopt;
  if (!sweep_id.empty() && text->substr(0, space) != sweep_id) return std::nullopt;
  int64_t id = 0;
  std::from_chars(text->data() + space + 1, text->data() + text->size(), id);
  return id > 0 ? std::optional(ExecutorId(id)) : std::nullopt;
}

class Agent {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options), env_(OwnEnvironment()), signals_(BlockSignals()) {}

  int Run();

 private:
  void Start();
  void Poll();
  void ReadSignals();
  void ReadKeeper();
  void ReadFrames();
  std::string SweepOfIdFile() const;
  void ReadInotify();
  void LookAtRuns();
  void LookAtLogs(FollowedRun* run);
  static Time NextLook(const FollowedRun& run);
  std::vector<RunKey> DueRuns(Time now) const;
  int PollTimeoutMs() const;
  void Feed(const ExecutorEvent& event);
  void Drain(const RunKey& key, bool harvest);
  FollowedRun& Open(const RunKey& key);
  std::string LeaseDevices(const Launch& launch, std::vector<DeviceLease>* leases);
  void StartLaunch(const Launch& launch);
  void Flush();
  [[noreturn]] void NextLife();

  void Do(const SendFrame& action);
  void Do(const SendHeartbeat& action) {
    Flush();
    transport_->SendHeartbeat(Encode(FromExecutor(action.message)));
  }
  void Do(const UseSweep& action);
  void Do(const StartRun& action) { StartLaunch(action.launch); }
  void Do(const TellKeeper& action) { keeper_->Send(action.message); }
  void Do(const FollowRun& action);
  void Do(const HarvestRun& action);
  void Do(const DrainRun& action) { Drain(action.key, false); }
  void Do(const RewindRun& action);
  void Do(const Committed& action);
  void Do(const CloseRun& action);
  void Do(const Leave& action);

  const AgentOptions& options_;
  const std::vector<std::string> env_;
  UniqueFd signals_;
  std::optional<FileLock> lock_;
  std::unique_ptr<KeeperLink> keeper_;
  std::unique_ptr<ClientTransport> transport_;
  std::optional<Executor> executor_;
  UniqueFd inotify_;
  SweepSpec sweep_;
  std::filesystem::path sweep_dir_;
  std::map<RunKey, FollowedRun> runs_;
  std::map<int, RunKey> watches_;
  std::vector<std::string> outbox_;  // leaves as one frame at the end of a round
  size_t outbox_bytes_ = 0;
  std::map<RunKey, double> running_s_;  // of adopted runs
  double stop_grace_s_ = 30;
  bool greeted_ = false;
  bool adopted_keeper_ = false;
  bool said_unanswered_ = false;
  const Time started_ = ReadClocks().steady;
  int quit_signals_ = 0;
  bool left_ = false;
  std::string left_why_;
};

void Agent::Start() {
  std::filesystem::create_directories(options_.state_dir);
  const auto lock_path = options_.embedded_in ? *options_.embedded_in / "executor.lock"
                                              : options_.state_dir / "executor.lock";
  lock_ = FileLock::TryAcquire(lock_path);
  if (!lock_) {
    throw EnvironmentError("another executor runs here: " + lock_path.string() +
                           " is held; give this one another --name");
  }
  lock_->WriteText(std::to_string(getpid()));
  const auto id_file = options_.state_dir / "executor.id";
  ExecutorIdentity self;
  self.sweep_id = options_.sweep_id;
  // An id counts within its sweep: only an executor that knows its sweep says one.
  if (!options_.sweep_id.empty()) self.id = ReadId(id_file, options_.sweep_id);
  keeper_ = StartOrAdoptKeeper({options_.state_dir, options_.sweep_id});
  if (!options_.fresh && !options_.sweep_id.empty()) KillLeftovers(options_.sweep_id);
  self.name = options_.name;
  self.host = HostName();
  self.boot_id = BootId();
  self.pid = getpid();
  self.embedded = options_.embedded_in.has_value();
  self.lost_policy = options_.lost_policy;
  self.resources = LocalResources(options_.resources);
  executor_.emplace(std::move(self), ReadClocks().steady);
  inotify_.Reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  transport_ = OpenClient(options_.endpoint, options_.keys);
}

int Agent::Run() {
  Start();
  // The keeper's first word comes before the first Hello, which lists what it holds.
  ReadKeeper();
  while (!greeted_) {
    pollfd wait{keeper_->fd(), POLLIN, 0};
    ::poll(&wait, 1, 1000);
    ReadKeeper();
  }
  Feed(Tick{});
  Flush();
  while (!left_) Poll();
  if (!left_why_.empty()) fprintf(stderr, "hyperopt executor: %s\n", left_why_.c_str());
  return left_why_.empty() ? 0 : static_cast<int>(ExitCode::kEnvironment);
}

int Agent::PollTimeoutMs() const {
  const Time now = ReadClocks().steady;
  Time due = executor_->next_tick();
  for (const auto& [key, run] : runs_) {
    if (!run.over) due = std::min(due, NextLook(run));
  }
  const double wait = ToSeconds(due - now);
  return wait <= 0 ? 0 : static_cast<int>(std::min(wait * 1000 + 1, 1000.0));
}

void Agent::Poll() {
  std::array<pollfd, 4> fds{{{transport_->fd(), POLLIN, 0},
                             {keeper_->fd(), POLLIN, 0},
                             {signals_.get(), POLLIN, 0},
                             {inotify_.get(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), PollTimeoutMs());
  ReadKeeper();
  ReadFrames();
  if (fds[2].revents != 0) ReadSignals();
  if (fds[3].revents != 0) ReadInotify();
  LookAtRuns();
  const Time now = ReadClocks().steady;
  if (now >= executor_->next_tick()) Feed(Tick{});
  Flush();
  if (sweep_dir_.empty() && !said_unanswered_ &&
      now - started_ > Seconds(kSayUnansweredS)) {
    said_unanswered_ = true;
    fprintf(stderr,
            "hyperopt executor: no answer from %s yet: is the controller there, and is "
            "--key the file that it was given?\n",
            options_.endpoint.c_str());
  }
}

void Agent::Do(const SendFrame& action) {
  outbox_.push_back(Encode(action.message));
  outbox_bytes_ += outbox_.back().size();
  if (outbox_bytes_ > kFlushAt) Flush();
}

void Agent::Flush() {
  if (outbox_.empty()) return;
  transport_->Send(JoinFrames(outbox_));
  Failpoint("executor.after_send");
  outbox_.clear();
  outbox_bytes_ = 0;
}

void Agent::Feed(const ExecutorEvent& event) {
  for (const ExecutorAction& action : executor_->Handle(event, ReadClocks().steady)) {
    std::visit([this](const auto& a) { Do(a); }, action);
  }
}

void Agent::ReadSignals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) continue;  // the keeper, or orphans of a dead one
    if (++quit_signals_ >= kForceQuitSignals) _exit(130);
    Feed(QuitAsked{});
  }
}

void Agent::ReadKeeper() {
  bool gone = false;
  for (const FromKeeper& message : keeper_->Receive(&gone)) {
    if (const auto* hello = std::get_if<KeeperHello>(&message)) {
      greeted_ = true;
      running_s_ = hello->running_s;
      adopted_keeper_ = !hello->holdings.empty();
      if (adopted_keeper_ && hello->sweep_id.empty()) {
        // A keeper that was born before its executor knew the sweep.
        KeeperHello named = *hello;
        named.sweep_id = SweepOfIdFile();
        Feed(KeeperSaid{std::move(named)});
        continue;
      }
    }
    Feed(KeeperSaid{message});
  }
  if (gone && !left_) NextLife();
}

std::string Agent::SweepOfIdFile() const {
  return SweepIn(ReadFile(options_.state_dir / "executor.id"));
}

void Agent::ReadFrames() {
  while (std::optional<std::string> frame = transport_->Receive()) {
    for (const std::string_view part : SplitFrames(*frame)) {
      std::optional<ToExecutor> message = DecodeToExecutor(part);
      if (message) Feed(FrameCame{std::move(*message)});
    }
  }
}

void Agent::ReadInotify() {
  alignas(inotify_event) char buffer[16384];
  ssize_t got;
  while ((got = ::read(inotify_.get(), buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      const auto key = watches_.find(event->wd);
      if (key != watches_.end()) runs_.at(key->second).touched = true;
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
  }
}

// The keeper died. What it held has fallen to this process (a subreaper) or is found by
// token; then this executor begins its next life with a new keeper, and the controller
// asks for each run.
void Agent::NextLife() {
  fprintf(stderr, "hyperopt executor: the keeper died; its trials are lost\n");
  KillLeftovers(sweep_.sweep_id.empty() ? options_.sweep_id : sweep_.sweep_id);
  ReapOrphans();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> argv;
  std::vector<std::string> words = options_.own_command;
  std::erase(words, "--fresh-record");
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // A keeper that dies at once must not make a tight loop of lives.
  const double lived = ToSeconds(ReadClocks().steady - started_);
  if (lived < 1) ::poll(nullptr, 0, static_cast<int>((1 - lived) * 1000));
  execv("/proc/self/exe", argv.data());
  throw EnvironmentError(std::string("can not start the executor anew: ") +
                         std::strerror(errno));
}

// ---- files ----

FollowedRun& Agent::Open(const RunKey& key) {
  FollowedRun& run = runs_[key];
  run.key = key;
  run.dir = AttemptDir(sweep_dir_, key);
  const Time now = ReadClocks().steady;
  const auto ran = running_s_.find(key);
  run.started = now - Seconds(ran == running_s_.end() ? 0 : ran->second);
  run.looked = now;
  run.next_look = now + Seconds(kFirstLookS);
  run.next_log_look = now + Seconds(kLogLookEveryS);
  run.OpenReaders(sweep_);
  return run;
}

// A device's share counts across the sweeps of this machine. "" where all were taken,
// else who is in the way; pretend devices are nobody else's.
std::string Agent::LeaseDevices(const Launch& launch,
                                std::vector<DeviceLease>* leases) {
  for (const std::vector<std::string>& rank : launch.devices) {
    for (const std::string& device : rank) {
      const std::optional<std::string> uuid = DeviceUuid(device);
      if (!uuid) continue;
      std::optional<DeviceLease> lease =
          TryLease(LeaseRoot(), *uuid, launch.device_share, sweep_.sweep_dir);
      if (!lease) {
        return "device " + device + " is taken: " + Holders(LeaseRoot(), *uuid);
      }
      leases->push_back(std::move(*lease));
    }
  }
  return "";
}

void Agent::StartLaunch(const Launch& launch) {
  try {
    std::vector<DeviceLease> leases;
    if (const std::string busy = LeaseDevices(launch, &leases); !busy.empty()) {
      Feed(StartRefused{launch.key, true, busy});
      return;
    }
    FollowedRun& run = Open(launch.key);
    run.leases = std::move(leases);
    PrepareAttemptDir(run.dir, sweep_, launch);
    const int port = launch.ranks > 1 ? FreePort() : 0;
    SpawnRun spawn;
    spawn.key = launch.key;
    spawn.dir = run.dir.string();
    spawn.token = TokenFor(sweep_.sweep_id, launch.key);
    spawn.ranks = MakeRanks(sweep_, launch, run.dir, env_, port);
    spawn.wall_limit_s = launch.wall_limit_s;
    spawn.stop_signal = sweep_.stop_signal;
    spawn.stop_grace_s = stop_grace_s_;
    Failpoint("executor.before_spawn");
    keeper_->Send(spawn);
    Failpoint("executor.after_spawn");
  } catch (const EnvironmentError& error) {
    // A full disk, say: not the trial's fault. It is tried again, and explain tells
    // why.
    Feed(StartRefused{launch.key, true, error.what()});
  } catch (const Error& error) {
    Feed(StartRefused{launch.key, false, error.what()});
  }
}

void Agent::Do(const UseSweep& action) {
  sweep_ = action.welcome.sweep;
  stop_grace_s_ = action.welcome.timing.stop_grace_s;
  // Where executor and keeper both died, what they left is ended before anything new
  // starts.
  const bool had_this_sweep = SweepOfIdFile() == sweep_.sweep_id;
  if (!options_.embedded_in && had_this_sweep && !adopted_keeper_) {
    KillLeftovers(sweep_.sweep_id);
  }
  transport_->SetHeartbeatInterval(action.welcome.timing.heartbeat_s);
  sweep_dir_ = sweep_.sweep_dir;
  const bool seen = ReadFile(sweep_dir_ / "sweep.id") == sweep_.sweep_id + "\n";
  if (!options_.embedded_in && !seen) sweep_dir_ = options_.spool_dir / sweep_.sweep_id;
  std::filesystem::create_directories(sweep_dir_ / "trials");
  WriteFileAtomically(
      options_.state_dir / "executor.id",
      sweep_.sweep_id + " " + std::to_string(action.welcome.id.value()) + "\n",
      Durability::kProcess);
}

void Agent::Do(const FollowRun& action) { Open(action.key).Seek(action.from); }

void Agent::Do(const HarvestRun& action) {
  Open(action.key).Seek(action.from);
  Drain(action.key, true);
}

void Agent::Drain(const RunKey& key, bool harvest) {
  const auto at = runs_.find(key);
  RunDrained drained{key, {}, std::nullopt};
  if (at != runs_.end()) {
    FollowedRun& run = at->second;
    run.over = true;
    run.Read(
        ReadMode::kToTheEnd, kReadAtOnce, ReadClocks().steady, [&](SourceRead read) {
          Feed(SourceCame{key, std::move(read)});
        });
    drained.checkpoints = CompleteCheckpoints(run.dir);
    if (harvest) drained.harvested = ReadExitJson(run.dir);
    LookAtLogs(&run);
  }
  Feed(drained);
  Failpoint("executor.after_drain");
}

void Agent::Do(const RewindRun& action) {
  const auto at = runs_.find(action.key);
  if (at == runs_.end()) return;
  at->second.Seek(action.to);
  at->second.touched = true;
}

void Agent::Do(const Committed& action) {
  const auto at = runs_.find(action.key);
  if (at == runs_.end()) return;
  if (!at->second.over && action.last_step <= at->second.pruned_step) return;
  at->second.pruned_step = action.last_step;
  PruneCheckpoints(at->second.dir, action.best_step, action.last_step, {});
}

void Agent::Do(const CloseRun& action) {
  const auto at = runs_.find(action.key);
  if (at == runs_.end()) return;
  if (at->second.watch >= 0) {
    inotify_rm_watch(inotify_.get(), at->second.watch);
    watches_.erase(at->second.watch);
  }
  runs_.erase(at);
}

void Agent::Do(const Leave& action) {
  left_ = true;
  left_why_ = action.why;
}

Time Agent::NextLook(const FollowedRun& run) {
  if (run.touched) return run.next_look;
  return std::max(run.next_look, run.looked + Seconds(kLookEveryS));
}

std::vector<RunKey> Agent::DueRuns(Time now) const {
  std::vector<RunKey> keys;
  for (const auto& [key, run] : runs_) {
    if (!run.over && now >= NextLook(run)) keys.push_back(key);
  }
  return keys;
}

void Agent::LookAtRuns() {
  if (sweep_dir_.empty()) return;
  const Time now = ReadClocks().steady;
  for (const RunKey& key : DueRuns(now)) {
    FollowedRun& run = runs_.at(key);
    if (!executor_->MayRead(key)) {
      // Too far ahead of what is committed, or not told to the keeper yet.
      run.looked = now;
      run.next_look = now + Seconds(kLookLaterS);
      continue;
    }
    run.touched = false;
    run.looked = now;
    run.next_look = now + Seconds(kLookAgainS);
    if (run.watch < 0) {
      run.watch = inotify_add_watch(inotify_.get(), run.dir.c_str(), IN_MODIFY);
      if (run.watch >= 0) watches_[run.watch] = key;
    }
    run.Read(ReadMode::kWholeLines, kReadAtOnce, now, [&](SourceRead read) {
      if (read.more) run.touched = true;
      Feed(SourceCame{key, std::move(read)});
    });
    if (now >= run.next_log_look) {
      run.next_log_look = now + Seconds(kLogLookEveryS);
      LookAtLogs(&run);
    }
  }
}

void Agent::LookAtLogs(FollowedRun* run) {
  PunchLog(run->dir / kStdoutFile, sweep_.log_limit);
  PunchLog(run->dir / kStderrFile, sweep_.log_limit);
  // Ranks above 0: stdout.1.log, stderr.1.log, ...
  for (int rank = 1;; ++rank) {
    const std::string end = "." + std::to_string(rank) + ".log";
    std::error_code absent;
    if (!std::filesystem::exists(run->dir / ("stdout" + end), absent)) return;
    PunchLog(run->dir / ("stdout" + end), sweep_.log_limit);
    PunchLog(run->dir / ("stderr" + end), sweep_.log_limit);
  }
}

}  // namespace

int RunAgent(const AgentOptions& options) {
  Agent agent(options);
  return agent.Run();
}

}  // namespace hyperopt
