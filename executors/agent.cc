#include "executors/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "executors/attempt_folder.h"
#include "executors/codec.h"
#include "executors/executor.h"
#include "executors/internal/run_files.h"
#include "executors/keeper.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/fs.h"
#include "trial/loop_signals.h"

extern char** environ;

namespace hyperopt {
namespace {

constexpr size_t kFlushAt = 1 << 20;
constexpr int kForceQuitSignals = 2;
constexpr double kSayUnansweredS = 5;

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
      : options_(options), env_(OwnEnvironment()), signals_(BlockLoopSignals()) {}

  int Run();

 private:
  void Start();
  void Poll();
  void ReadSignals();
  void ReadKeeper();
  void ReadFrames();
  std::string SweepOfIdFile() const;
  int PollTimeoutMs() const;
  void Feed(const ExecutorEvent& event);
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
  void Do(const FollowRun& action) { files_.Open(action.key).Seek(action.from); }
  void Do(const HarvestRun& action) {
    files_.Open(action.key).Seek(action.from);
    files_.Drain(action.key, true);
  }
  void Do(const DrainRun& action) { files_.Drain(action.key, false); }
  void Do(const RewindRun& action) { files_.Rewind(action); }
  void Do(const Committed& action) { files_.Prune(action); }
  void Do(const CloseRun& action) { files_.Close(action.key); }
  void Do(const Leave& action);

  const AgentOptions& options_;
  const std::vector<std::string> env_;
  UniqueFd signals_;
  std::optional<FileLock> lock_;
  std::unique_ptr<KeeperLink> keeper_;
  std::unique_ptr<ClientTransport> transport_;
  std::optional<Executor> executor_;
  SweepSpec sweep_;
  std::filesystem::path sweep_dir_;
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
  const Time due = files_.NextLook(executor_->next_tick());
  const double wait = ToSeconds(due - now);
  return wait <= 0 ? 0 : static_cast<int>(std::min(wait * 1000 + 1, 1000.0));
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
      files_.SetRunning(hello->running_s);
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
    FollowedRun& run = files_.Open(launch.key);
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
  files_.Use(&sweep_, sweep_dir_);
  WriteFileAtomically(
      options_.state_dir / "executor.id",
      sweep_.sweep_id + " " + std::to_string(action.welcome.id.value()) + "\n",
      Durability::kProcess);
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
