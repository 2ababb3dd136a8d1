#include "executors/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>

#include "executors/attempt_folder.h"
#include "executors/codec.h"
#include "executors/container.h"
#include "executors/executor.h"
#include "executors/internal/machine_share.h"
#include "executors/internal/own_process.h"
#include "executors/internal/run_files.h"
#include "executors/keeper.h"
#include "executors/setup_environment.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/fs.h"
#include "trial/loop_signals.h"

namespace hyperopt {
namespace {

constexpr size_t kFlushAt = 1 << 20;
constexpr int kForceQuitSignals = 2;
constexpr double kSayUnansweredS = 5;

class Agent {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options), env_(OwnEnvironment()), signals_(BlockLoopSignals()) {}

  int Run();

 private:
  void Start();
  void Poll();
  void ReadSignals();
  void ReadKeeper();
  void ReadFrames();
  int PollTimeoutMs() const;
  void Feed(const ExecutorEvent& event);
  void StartLaunch(const Launch& launch);
  void Spawn(const Launch& launch, MachineShare::Granted granted);
  void StartSetup();
  void CheckSetup(double wait_s);
  void DrainFreed();
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
  void Do(const FollowRun& action) { files_.Open(action.key).Seek(action.from); }
  void Do(const HarvestRun& action) {
    files_.Open(action.key).Seek(action.from);
    files_.Drain(action.key, true);
  }
  void Do(const DrainRun& action) {
    draining_.insert(action.key);
    DrainFreed();
  }
  void Do(const RewindRun& action) { files_.Rewind(action); }
  void Do(const Committed& action) { files_.Prune(action); }
  void Do(const CloseRun& action) {
    unopened_.erase(action.key);
    files_.Close(action.key);
  }
  void Do(const Leave& action);

  const AgentOptions& options_;
  std::vector<std::string> env_;  // what trials start from
  UniqueFd signals_;
  std::optional<FileLock> lock_;
  std::unique_ptr<KeeperLink> keeper_;
  std::unique_ptr<ClientTransport> transport_;
  std::optional<Executor> executor_;
  SweepSpec sweep_;
  std::filesystem::path sweep_dir_;
  std::optional<SetupRun> setup_;  // while it runs
  bool unfit_ = false;
  std::vector<Device> offered_;
  MachineShare share_;
  std::set<RunKey> draining_;  // ended, and perhaps still in a device's list
  std::set<RunKey> unopened_;  // handed to the keeper to stand by
  RunFiles files_{[this](const ExecutorEvent& event) { Feed(event); }};
  std::vector<std::string> outbox_;  // leaves as one frame at the end of a round
  size_t outbox_bytes_ = 0;
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
  if (!options_.sweep_id.empty()) self.id = ReadIdFile(id_file, options_.sweep_id);
  keeper_ = StartOrAdoptKeeper({options_.state_dir, options_.sweep_id});
  if (!options_.fresh && !options_.sweep_id.empty()) KillLeftovers(options_.sweep_id);
  self.name = options_.name;
  self.host = HostName();
  self.boot_id = BootId();
  self.pid = getpid();
  self.embedded = options_.embedded_in.has_value();
  self.lost_policy = options_.lost_policy;
  self.resources = LocalResources(options_.resources);
  offered_ = self.resources.devices;
  executor_.emplace(std::move(self), ReadClocks().steady);
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
  if (unfit_) return kUnfitExit;
  return left_why_.empty() ? 0 : static_cast<int>(ExitCode::kEnvironment);
}

int Agent::PollTimeoutMs() const {
  const Time now = ReadClocks().steady;
  const Time due = files_.NextLook(executor_->next_tick());
  const double wait = ToSeconds(due - now);
  // A driver that lets go of a process says so to nobody.
  const double most = draining_.empty() ? 1000.0 : 50.0;
  return wait <= 0 ? 0 : static_cast<int>(std::min(wait * 1000 + 1, most));
}

void Agent::Poll() {
  std::array<pollfd, 4> fds{{{transport_->fd(), POLLIN, 0},
                             {keeper_->fd(), POLLIN, 0},
                             {signals_.get(), POLLIN, 0},
                             {files_.fd(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), PollTimeoutMs());
  ReadKeeper();
  ReadFrames();
  if (fds[2].revents != 0) ReadSignals();
  if (fds[3].revents != 0) files_.ReadHints();
  files_.Look([this](const RunKey& key) { return executor_->MayRead(key); });
  if (setup_) CheckSetup(0);
  DrainFreed();
  const Time now = ReadClocks().steady;
  if (now >= executor_->next_tick()) {
    Feed(DevicesSeen{share_.Look()});
    Feed(Tick{});
  }
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
      files_.SetRunning(hello->running_s);
      adopted_keeper_ = !hello->holdings.empty();
      if (adopted_keeper_ && hello->sweep_id.empty()) {
        // A keeper that was born before its executor knew the sweep.
        KeeperHello named = *hello;
        named.sweep_id = SweepOfIdFile(options_.state_dir / "executor.id");
        Feed(KeeperSaid{std::move(named)});
        continue;
      }
    }
    if (const auto* started = std::get_if<RunStarted>(&message)) {
      share_.Started(started->key, started->pids);
      if (unopened_.erase(started->key) > 0) files_.Open(started->key);
    }
    // Nobody waits for its devices where all are sent home.
    if (const auto* ended = std::get_if<RunEnded>(&message);
        ended != nullptr && ended->info.asked == Reason::kInterrupted) {
      share_.GiveBack(ended->key);
    }
    Feed(KeeperSaid{message});
  }
  if (gone && !left_) NextLife();
}

void Agent::ReadFrames() {
  while (std::optional<std::string> frame = transport_->Receive()) {
    for (const std::string_view part : SplitFrames(*frame)) {
      std::optional<ToExecutor> message = DecodeToExecutor(part);
      if (message) Feed(FrameCame{std::move(*message)});
    }
  }
}

// The keeper died. What it held has fallen to this process (a subreaper) or is found by
// token; then this executor begins its next life with a new keeper, and the controller
// asks for each run.
void Agent::NextLife() {
  fprintf(stderr, "hyperopt executor: the keeper died; its trials are lost\n");
  setup_.reset();
  KillLeftovers(sweep_.sweep_id.empty() ? options_.sweep_id : sweep_.sweep_id);
  RemoveLeftoverContainers(sweep_.around.container.engine, sweep_.sweep_id, env_);
  ReapOrphans();
  StartAnew(options_.own_command, ToSeconds(ReadClocks().steady - started_));
}

void Agent::StartLaunch(const Launch& launch) {
  try {
    if (setup_) {
      Feed(StartRefused{launch.key, true, "setup: is still running"});
      return;
    }
    MachineShare::Granted granted;
    if (const auto refusal = share_.Take(launch, &granted)) {
      Feed(StartRefused{launch.key, true, refusal->why, refusal->elsewhere});
      return;
    }
    Spawn(launch, std::move(granted));
  } catch (const EnvironmentError& error) {
    // A full disk, say: not the trial's fault. It is tried again, and explain tells
    // why.
    Feed(StartRefused{launch.key, true, error.what()});
  } catch (const Error& error) {
    Feed(StartRefused{launch.key, false, error.what()});
  }
}

void Agent::Spawn(const Launch& launch, MachineShare::Granted granted) {
  const std::filesystem::path dir = AttemptDir(sweep_dir_, launch.key);
  if (launch.after) {
    unopened_.insert(launch.key);
  } else {
    files_.Open(launch.key).leases = std::move(granted.leases);
  }
  PrepareAttemptDir(dir, sweep_, launch);
  const int port = launch.ranks > 1 ? FreePort() : 0;
  SpawnRun spawn;
  spawn.key = launch.key;
  spawn.dir = dir.string();
  spawn.token = TokenFor(sweep_.sweep_id, launch.key);
  spawn.ranks = MakeRanks(sweep_, launch, dir, env_, port, granted.cpus);
  spawn.after = launch.after;
  spawn.leases = std::move(granted.paths);
  spawn.wall_limit_s = launch.wall_limit_s;
  spawn.stop_signal = sweep_.stop_signal;
  spawn.stop_grace_s = stop_grace_s_;
  Failpoint("executor.before_spawn");
  keeper_->Send(spawn);
  Failpoint("executor.after_spawn");
}

// Its devices are given back to the controller with its end, so that comes after they
// were seen free.
void Agent::DrainFreed() {
  const Time now = ReadClocks().steady;
  const std::set<RunKey> waiting = draining_;
  for (const RunKey& key : waiting) {
    if (!share_.SeenFree(key, now)) continue;
    draining_.erase(key);
    share_.GiveBack(key);
    files_.Drain(key, false);
  }
}

void Agent::StartSetup() {
  // Most are over in a moment, and then the first trial starts at once.
  constexpr double kShort = 0.3;
  if (sweep_.around.setup.empty()) return;
  try {
    setup_.emplace(sweep_.around.setup,
                   sweep_.workdir.empty() ? sweep_.config_dir : sweep_.workdir,
                   options_.state_dir,
                   env_);
    CheckSetup(kShort);
  } catch (const EnvironmentError& error) {
    unfit_ = true;
    Feed(Unfit{error.what()});
  }
}

void Agent::CheckSetup(double wait_s) {
  std::optional<SetupResult> result = setup_->Wait(wait_s);
  if (!result) return;
  setup_.reset();
  if (result->error.empty()) {
    env_ = std::move(result->environment);
    return;
  }
  unfit_ = true;
  Feed(Unfit{std::move(result->error)});
}

void Agent::Do(const UseSweep& action) {
  sweep_ = action.welcome.sweep;
  stop_grace_s_ = action.welcome.timing.stop_grace_s;
  // Where executor and keeper both died, what they left is ended before anything new
  // starts.
  const bool had_this_sweep =
      SweepOfIdFile(options_.state_dir / "executor.id") == sweep_.sweep_id;
  if (!options_.embedded_in && had_this_sweep && !adopted_keeper_) {
    KillLeftovers(sweep_.sweep_id);
  }
  const bool may_have_left = options_.embedded_in ? !options_.fresh : had_this_sweep;
  if (may_have_left && !adopted_keeper_) {
    RemoveLeftoverContainers(sweep_.around.container.engine, sweep_.sweep_id, env_);
  }
  transport_->SetHeartbeatInterval(action.welcome.timing.heartbeat_s);
  sweep_dir_ = sweep_.sweep_dir;
  const bool seen = ReadFile(sweep_dir_ / "sweep.id") == sweep_.sweep_id + "\n";
  if (!options_.embedded_in && !seen) sweep_dir_ = options_.spool_dir / sweep_.sweep_id;
  std::filesystem::create_directories(sweep_dir_ / "trials");
  files_.Use(&sweep_, sweep_dir_);
  share_.Use(offered_, sweep_);
  WriteFileAtomically(
      options_.state_dir / "executor.id",
      sweep_.sweep_id + " " + std::to_string(action.welcome.id.value()) + "\n",
      Durability::kProcess);
  Feed(DevicesSeen{share_.Look()});
  StartSetup();
}

void Agent::Do(const Leave& action) {
  left_ = true;
  left_why_ = action.why;
}

}  // namespace

int RunAgent(const AgentOptions& options) {
  Agent agent(options);
  return agent.Run();
}

}  // namespace hyperopt
