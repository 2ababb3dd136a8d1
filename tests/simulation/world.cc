#include "tests/simulation/world.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "executors/codec.h"
#include "trial/errors.h"
#include "trial/failpoint.h"

namespace hyperopt::simulation {
namespace {

constexpr double kStepS = 0.05;
constexpr double kDownS = 1.5;
constexpr int64_t kLineBytes = 20;

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)),
      rng_(options_.seed, TrialId(0), "world"),
      now_(Seconds(1000)),
      store_(NewMemoryStore()) {
  SweepRow sweep;
  sweep.id = "0123456789abcdef";
  sweep.name = "simulated";
  sweep.goal = options_.config.goal;
  sweep.metric = options_.config.metric;
  const std::vector<RecordChange> first = {PutSweep{sweep}};
  store_->Commit(first);
  sampler_ = MakeSampler(options_.config.space, options_.config.sampler);
  for (int i = 0; i < options_.executors; ++i) {
    Node node;
    node.name = "node" + std::to_string(i);
    node.up_at = now_;
    nodes_.push_back(std::move(node));
  }
  StartController();
}

World::~World() = default;

std::string World::PeerOf(const Node& node) const {
  return node.name + "/" + std::to_string(node.life) + "/" +
         std::to_string(controller_lives_);
}

void World::StartController() {
  ++controller_lives_;
  scheduler_ = MakeScheduler(options_.config.scheduler, options_.config.goal, 1);
  ControllerStart start;
  start.record = *store_->Load();
  std::vector<TrialId> ids;
  for (const TrialRow& row : start.record.trials) {
    if (IsFinished(row.state)) continue;
    ids.push_back(row.id);
    start.reports[row.id] = store_->LoadReports(row.id);
    start.runs[row.id] = store_->LoadRuns(row.id);
  }
  std::vector<Params> params = store_->LoadParams(ids);
  for (size_t i = 0; i < ids.size(); ++i) start.params[ids[i]] = params[i];
  controller_ = std::make_unique<Controller>(
      options_.config, *sampler_, *scheduler_, std::move(start), Now{now_, seconds()});
  held_.reset();
  inbox_.clear();
}

void World::StartNode(Node* node) {
  ++node->life;
  ++node->pid;
  ExecutorIdentity self;
  self.name = node->name;
  self.host = "host";
  self.pid = node->pid;
  self.lost_policy = options_.policy;
  self.resources = options_.resources;
  self.id = node->id;
  self.sweep_id = node->sweep_id;
  node->executor = std::make_unique<Executor>(self, now_);
  node->open.clear();
  node->read.clear();
  KeeperHello hello;
  hello.sweep_id = node->sweep_id;
  for (const auto& [key, process] : node->keeper) {
    hello.holdings.push_back(
        {key, process.ended ? HoldState::kEnded : HoldState::kRunning, ""});
  }
  Feed(node, KeeperSaid{hello});
  for (auto& [key, process] : node->keeper) {
    if (process.ended) Feed(node, KeeperSaid{RunEnded{key, process.info}});
  }
  Feed(node, Tick{});
}

void World::CrashNode(Node* node, bool keeper_too) {
  node->executor.reset();
  node->up_at = now_ + Seconds(kDownS + 3 * Chance());
  if (!keeper_too) return;
  node->keeper.clear();
}

void World::MaybeCrash(double step_s) {
  const auto strikes = [&](double mean) {
    return mean > 0 && Chance() < step_s / mean;
  };
  const Faults& faults = options_.faults;
  if (controller_ && strikes(faults.crash_controller_every_s)) CrashController();
  for (Node& node : nodes_) {
    if (node.executor == nullptr) continue;
    if (strikes(faults.partition_every_s)) {
      node.cut_until = now_ + Seconds(faults.partition_s);
    }
    if (strikes(faults.crash_executor_every_s)) {
      CrashNode(&node, false);
    } else if (strikes(faults.crash_node_every_s)) {
      CrashNode(&node, true);
    }
  }
}

void World::CrashController() {
  controller_.reset();
  controller_up_at_ = now_ + Seconds(kDownS + 3 * Chance());
}

bool World::Run(double most_s) {
  const Time until = now_ + Seconds(most_s);
  while (!end_ && now_ < until) {
    now_ += Seconds(kStepS);
    MaybeCrash(kStepS);
    if (!controller_ && now_ >= controller_up_at_) StartController();
    for (Node& node : nodes_) {
      if (!node.executor && !node.left && now_ >= node.up_at) StartNode(&node);
      StepProcesses(&node);
      if (!node.executor) continue;
      StepReaders(&node);
      if (node.executor && now_ >= node.executor->next_tick()) Feed(&node, Tick{});
    }
    Deliver();
    if (controller_) ControllerTurn();
  }
  return end_.has_value();
}

void World::Interrupt() {
  controller_->Handle(StopAsked{StopKind::kInterrupt}, Now{now_, seconds()});
}

void World::RunAgain() {
  end_.reset();
  StartController();
  for (Node& node : nodes_) {
    node.left = false;
    node.up_at = now_;
  }
}

// ---- network ----

void World::Post(int node, bool to_node, std::string bytes) {
  const Faults& faults = options_.faults;
  const bool cut = now_ < nodes_[static_cast<size_t>(node)].cut_until;
  if (cut || Chance() < faults.drop) {
    ++frames_lost_;
    return;
  }
  const int copies = Chance() < faults.repeat ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    Flight flight;
    flight.at = now_ + Seconds(0.001);
    if (Chance() < faults.late) flight.at += Seconds(3 * Chance());
    flight.order = flight_order_++;
    flight.node = node;
    flight.life = to_node ? nodes_[static_cast<size_t>(node)].life : controller_lives_;
    flight.to_node = to_node;
    flight.bytes = bytes;
    flights_.push(std::move(flight));
  }
}

void World::Deliver() {
  while (!flights_.empty() && flights_.top().at <= now_) {
    const Flight flight = flights_.top();
    flights_.pop();
    Node& node = nodes_[static_cast<size_t>(flight.node)];
    if (flight.to_node) {
      if (!node.executor || node.life != flight.life) continue;
      const std::optional<ToExecutor> message = DecodeToExecutor(flight.bytes);
      if (!message) throw std::logic_error("a message does not survive the codec");
      Feed(&node, FrameCame{*message});
    } else {
      if (!controller_ || controller_lives_ != flight.life) continue;
      std::optional<FromExecutor> message = DecodeFromExecutor(flight.bytes);
      if (!message) throw std::logic_error("a message does not survive the codec");
      inbox_.emplace_back(PeerOf(node), std::move(*message));
    }
  }
}

void World::ControllerTurn() {
  const Now now{now_, seconds()};
  if (!held_) {
    while (!inbox_.empty()) {
      controller_->Handle(PeerSaid{inbox_.front().first, inbox_.front().second}, now);
      inbox_.pop_front();
    }
    held_ = controller_->TakeTurn(now);
    if (options_.check_invariants) controller_->CheckInvariants();
  }
  if (Chance() < options_.faults.commit_fails) return;  // the turn is held
  Turn turn = std::move(*held_);
  held_.reset();
  const bool too_early = Defective("send_before_commit");
  if (too_early) SendAll(turn.sends);
  if (!turn.changes.empty() && Chance() < options_.faults.crash_at_commit) {
    return CrashController();
  }
  if (!turn.changes.empty()) store_->Commit(turn.changes);
  if (!turn.changes.empty() && Chance() < options_.faults.crash_after_commit) {
    return CrashController();
  }
  if (!too_early) SendAll(turn.sends);
  if (!turn.end) return;
  // No executor for long: the user runs the same line again.
  if (turn.end->code == ExitCode::kEnvironment) return CrashController();
  end_ = turn.end;
}

void World::SendAll(const std::vector<SendTo>& sends) {
  for (const SendTo& to : sends) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (PeerOf(nodes_[i]) == to.peer) {
        Post(static_cast<int>(i), true, Encode(to.message));
      }
    }
  }
}

// ---- nodes ----

void World::Feed(Node* node, const ExecutorEvent& event) {
  if (!node->executor) return;
  const std::vector<ExecutorAction> actions = node->executor->Handle(event, now_);
  if (options_.check_invariants) node->executor->CheckInvariants();
  for (const ExecutorAction& action : actions) {
    if (!node->executor) return;
    Act(node, action);
  }
}

void World::TellExecutor(Node* node, const FromKeeper& message) {
  Feed(node, KeeperSaid{message});
}

void World::Act(Node* node, const ExecutorAction& action) {
  const int index = static_cast<int>(node - nodes_.data());
  if (const auto* send = std::get_if<SendFrame>(&action)) {
    Post(index, false, Encode(send->message));
  } else if (const auto* beat = std::get_if<SendHeartbeat>(&action)) {
    Post(index, false, Encode(FromExecutor(beat->message)));
  } else if (const auto* use = std::get_if<UseSweep>(&action)) {
    node->id = use->welcome.id;
    node->sweep_id = use->welcome.sweep.sweep_id;
  } else if (const auto* start = std::get_if<StartRun>(&action)) {
    const RunKey key = start->launch.key;
    ++starts_[key];
    Process process;
    process.key = key;
    process.script = options_.script(key.trial, key.attempt);
    process.started = now_;
    node->keeper[key] = process;
    node->files[key];
    node->open.insert(key);
    node->read[key] = SourceOffset{};
    TellExecutor(node, RunStarted{key, {1}});
  } else if (const auto* tell = std::get_if<TellKeeper>(&action)) {
    if (const auto* stop = std::get_if<StopRun>(&tell->message)) {
      const auto at = node->keeper.find(stop->key);
      if (at == node->keeper.end() || at->second.ended) return;
      if (!at->second.asked) at->second.asked = stop->reason;
      const Time kill_at = now_ + Seconds(stop->grace_s);
      at->second.kill_at = std::min(at->second.kill_at.value_or(kill_at), kill_at);
    } else if (const auto* release = std::get_if<ReleaseRun>(&tell->message)) {
      node->keeper.erase(release->key);
    }
  } else if (const auto* follow = std::get_if<FollowRun>(&action)) {
    node->open.insert(follow->key);
    node->read[follow->key] = follow->from.empty() ? SourceOffset{} : follow->from[0];
  } else if (const auto* harvest = std::get_if<HarvestRun>(&action)) {
    node->read[harvest->key] =
        harvest->from.empty() ? SourceOffset{} : harvest->from[0];
    ReadAll(node, harvest->key, true);
    RunDrained drained{harvest->key, {}, std::nullopt};
    const auto exit = node->exit_files.find(harvest->key);
    if (exit != node->exit_files.end()) drained.harvested = exit->second;
    Feed(node, drained);
  } else if (const auto* drain = std::get_if<DrainRun>(&action)) {
    ReadAll(node, drain->key, true);
    Feed(node, RunDrained{drain->key, {}, std::nullopt});
  } else if (const auto* rewind = std::get_if<RewindRun>(&action)) {
    if (!rewind->to.empty()) node->read[rewind->key] = rewind->to[0];
  } else if (const auto* close = std::get_if<CloseRun>(&action)) {
    node->open.erase(close->key);
  } else if (std::holds_alternative<Leave>(action)) {
    node->executor.reset();
    node->up_at = now_ + Seconds(5);
  }
}

void World::EndProcess(Node* node, Process* process, ExitInfo info) {
  process->ended = true;
  info.asked = process->asked;
  info.wall_s = ToSeconds(now_ - process->started);
  process->info = info;
  node->exit_files[process->key] = info;
  if (node->executor) TellExecutor(node, RunEnded{process->key, info});
}

void World::StepProcesses(Node* node) {
  std::vector<RunKey> keys;
  for (const auto& [key, process] : node->keeper) keys.push_back(key);
  for (const RunKey& key : keys) {
    const auto at = node->keeper.find(key);
    if (at == node->keeper.end() || at->second.ended) continue;
    Process& process = at->second;
    const double ran = ToSeconds(now_ - process.started);
    auto& file = node->files[key];
    while (process.reported < process.script.values.size() &&
           static_cast<double>(process.reported + 1) <= ran) {
      const double value = process.script.values[process.reported++];
      const int64_t step = static_cast<int64_t>(process.reported);
      file.push_back({step * kLineBytes, value, step});
    }
    ExitInfo info;
    if (process.kill_at && now_ >= *process.kill_at) {
      info.signal = SIGKILL;
      EndProcess(node, &process, info);
    } else if (process.asked && !process.script.ignores_stop) {
      info.exit_code = 0;
      EndProcess(node, &process, info);
    } else if (ran >= process.script.length_s) {
      info.exit_code = process.script.exit_code;
      EndProcess(node, &process, info);
    }
  }
}

void World::StepReaders(Node* node) {
  const std::vector<RunKey> following = node->executor->Following();
  for (const RunKey& key : following) {
    if (node->executor && node->executor->MayRead(key)) ReadAll(node, key, false);
  }
}

void World::ReadAll(Node* node, const RunKey& key, bool) {
  SourceOffset& at = node->read[key];
  SourceRead read;
  read.from = at.offset;
  for (const Report& report : node->files[key]) {
    if (report.end_offset <= at.offset) continue;
    ReportLine line;
    line.end_offset = report.end_offset;
    line.step = report.step;
    line.values["loss"] = report.value;
    read.lines.push_back(line);
  }
  if (read.lines.empty()) return;
  at.offset = read.lines.back().end_offset;
  read.upto = at;
  Feed(node, SourceCame{key, read});
}

}  // namespace hyperopt::simulation
