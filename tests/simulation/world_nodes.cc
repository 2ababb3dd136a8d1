// The simulated nodes: executors, their keepers, the trials and what they leave on
// disk.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <stdexcept>

#include "executors/codec.h"
#include "tests/simulation/world.h"

namespace hyperopt::simulation {
namespace {

constexpr double kDownS = 1.5;
constexpr int64_t kLineBytes = 20;
constexpr char kSecond[] = "second";

// "trials/3/0/1/checkpoints/7": trial, run, attempt, step.
std::pair<RunKey, int64_t> ParseCheckpoint(const std::string& path) {
  std::vector<int64_t> numbers;
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at)) {
    int64_t number = 0;
    const char* begin = path.data() + ++at;
    const auto [end, error] = std::from_chars(begin, path.data() + path.size(), number);
    if (error == std::errc()) numbers.push_back(number);
  }
  if (numbers.size() != 4) throw std::logic_error("no checkpoint's path: " + path);
  const RunId run(static_cast<int32_t>(numbers[1]));
  const Attempt attempt(static_cast<int32_t>(numbers[2]));
  return {{TrialId(numbers[0]), run, attempt}, numbers[3]};
}

}  // namespace

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
  node->row = {};
  node->waiting.clear();
  if (!keeper_too) return;
  node->keeper.clear();
}

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
    const auto* measured = std::get_if<Measured>(&send->message);
    const bool second = measured != nullptr && measured->upto.source.name == kSecond;
    if (second && Chance() < options_.faults.drop_second) {
      ++frames_lost_;
      return;
    }
    Post(index, false, Encode(send->message));
  } else if (const auto* beat = std::get_if<SendHeartbeat>(&action)) {
    Post(index, false, Encode(FromExecutor(beat->message)));
  } else if (const auto* use = std::get_if<UseSweep>(&action)) {
    node->id = use->welcome.id;
    node->sweep_id = use->welcome.sweep.sweep_id;
  } else if (const auto* start = std::get_if<StartRun>(&action)) {
    if (start->launch.after) {
      StandBy(node, start->launch);
    } else {
      StartProcess(node, start->launch);
    }
  } else if (const auto* tell = std::get_if<TellKeeper>(&action)) {
    if (const auto* stop = std::get_if<StopRun>(&tell->message)) {
      StopProcess(node, *stop);
    } else if (const auto* release = std::get_if<ReleaseRun>(&tell->message)) {
      node->keeper.erase(release->key);
    }
  } else if (const auto* follow = std::get_if<FollowRun>(&action)) {
    node->open.insert(follow->key);
    node->read[follow->key].clear();
    Seek(node, follow->key, follow->from);
  } else if (const auto* harvest = std::get_if<HarvestRun>(&action)) {
    node->read[harvest->key].clear();
    Seek(node, harvest->key, harvest->from);
    ReadAll(node, harvest->key);
    RunDrained drained = Drained(harvest->key);
    const auto exit = node->exit_files.find(harvest->key);
    if (exit != node->exit_files.end()) drained.harvested = exit->second;
    Feed(node, drained);
  } else if (const auto* drain = std::get_if<DrainRun>(&action)) {
    ReadAll(node, drain->key);
    Feed(node, Drained(drain->key));
  } else if (const auto* rewind = std::get_if<RewindRun>(&action)) {
    Seek(node, rewind->key, rewind->to);
  } else if (const auto* committed = std::get_if<Committed>(&action)) {
    Prune(*committed);
  } else if (const auto* close = std::get_if<CloseRun>(&action)) {
    node->open.erase(close->key);
  } else if (std::holds_alternative<Leave>(action)) {
    node->executor.reset();
    node->row = {};
    node->waiting.clear();
    node->up_at = now_ + Seconds(5);
  }
}

void World::Seek(Node* node, const RunKey& key, const std::vector<SourceOffset>& to) {
  for (const SourceOffset& at : to) node->read[key][at.source.name] = at;
}

void World::StartProcess(Node* node, const Launch& launch) {
  const RunKey key = launch.key;
  ++starts_[key];
  Process process;
  process.key = key;
  process.script = options_.script(key.trial, key.attempt);
  if (node - nodes_.data() == options_.broken_node) {
    process.script = {};
    process.script.length_s = 0.2;
    process.script.exit_code = 1;
  }
  process.started = now_;
  if (!launch.resume_from.empty()) {
    const auto [from, step] = ParseCheckpoint(launch.resume_from);
    const auto left = disk_.find(from);
    if (left == disk_.end() || !left->second.contains(step)) {
      throw std::logic_error("an attempt starts from a checkpoint that is gone: " +
                             launch.resume_from);
    }
    process.first_step = process.reported = static_cast<size_t>(step);
    ++resumed_;
  }
  seeds_[key] = launch.seed;
  if (launch.budget) budgets_[key] = *launch.budget;
  if (!process.script.ignores_budget) process.budget = launch.budget;
  node->keeper[key] = process;
  node->files[key];
  node->open.insert(key);
  node->read[key].clear();
  most_at_once_ = std::max(
      most_at_once_,
      std::count_if(node->keeper.begin(), node->keeper.end(), [](const auto& held) {
        return !held.second.ended;
      }));
  TellExecutor(node, RunStarted{key, {1}});
}

// As RunSet of executors/internal/run_set.h.
void World::StandBy(Node* node, const Launch& launch) {
  if (node->waiting.contains(launch.key)) return;
  const auto before = node->keeper.find(*launch.after);
  const bool held = before != node->keeper.end();
  if (held && before->second.ended) return StartProcess(node, launch);
  const bool known = held || node->waiting.contains(*launch.after);
  if (known && node->row.Add(launch.key, *launch.after)) {
    node->waiting.emplace(launch.key, launch);
  } else {
    GiveBack(node, launch.key, Reason::kPreempted);
  }
}

void World::GiveBack(Node* node, const RunKey& key, Reason reason) {
  RunEnded ended{key, {}};
  ended.info.started = false;
  ended.info.asked = reason;
  TellExecutor(node, ended);
}

void World::StopProcess(Node* node, const StopRun& stop) {
  if (node->waiting.erase(stop.key) > 0) {
    node->row.Leave(stop.key);
    return GiveBack(node, stop.key, stop.reason);
  }
  if (stop.if_waiting) return;
  const auto at = node->keeper.find(stop.key);
  if (at == node->keeper.end() || at->second.ended) return;
  if (!at->second.asked) at->second.asked = stop.reason;
  const Time kill_at = now_ + Seconds(stop.grace_s);
  at->second.kill_at = std::min(at->second.kill_at.value_or(kill_at), kill_at);
}

// As PruneCheckpoints of executors/attempt_folder.h.
void World::Prune(const Committed& committed) {
  const auto left = disk_.find(committed.key);
  if (left == disk_.end() || left->second.empty()) return;
  const int64_t newest = *left->second.rbegin();
  std::erase_if(left->second, [&](int64_t step) {
    return step <= committed.last_step && step != committed.best_step && step != newest;
  });
}

RunDrained World::Drained(const RunKey& key) const {
  RunDrained drained{key, {}, std::nullopt};
  const auto left = disk_.find(key);
  if (left == disk_.end()) return drained;
  drained.checkpoints.assign(left->second.begin(), left->second.end());
  return drained;
}

void World::EndProcess(Node* node, Process* process, ExitInfo info) {
  process->ended = true;
  info.asked = process->asked;
  info.wall_s = ToSeconds(now_ - process->started);
  process->info = info;
  const RunKey key = process->key;
  node->exit_files[key] = info;
  if (node->executor) TellExecutor(node, RunEnded{key, info});
  if (const auto heir = node->row.Free(key)) {
    StartProcess(node, node->waiting.extract(*heir).mapped());
  }
}

void World::StepProcesses(Node* node) {
  std::vector<RunKey> keys;
  for (const auto& [key, process] : node->keeper) keys.push_back(key);
  for (const RunKey& key : keys) {
    const auto at = node->keeper.find(key);
    if (at == node->keeper.end() || at->second.ended) continue;
    Process& process = at->second;
    const auto first = static_cast<double>(process.first_step);
    const double done = first + ToSeconds(now_ - process.started);
    WriteReports(node, &process, done);
    ExitInfo info;
    if (process.kill_at && now_ >= *process.kill_at) {
      info.signal = SIGKILL;
      EndProcess(node, &process, info);
    } else if (process.asked && !process.script.ignores_stop) {
      info.exit_code = 0;
      EndProcess(node, &process, info);
    } else if (process.budget && done >= static_cast<double>(*process.budget) + 0.5) {
      info.exit_code = 0;
      EndProcess(node, &process, info);
    } else if (done >= process.script.length_s && process.script.kills_node) {
      return CrashNode(node, true);
    } else if (done >= process.script.length_s) {
      info.exit_code = process.script.exit_code;
      EndProcess(node, &process, info);
    }
  }
}

void World::WriteReports(Node* node, Process* process, double done) {
  const WorldOptions::Script& script = process->script;
  auto& files = node->files[process->key];
  const size_t most = std::min(
      script.values.size(), static_cast<size_t>(process->budget.value_or(INT64_MAX)));
  while (process->reported < most &&
         static_cast<double>(process->reported + 1) * script.report_s <= done) {
    const double value = script.values[process->reported++];
    const auto step = static_cast<int64_t>(process->reported);
    const Report report{step * kLineBytes, value, step};
    files[SourceId().name].push_back(report);
    if (script.second_source) files[kSecond].push_back(report);
    if (script.checkpoints) disk_[process->key].insert(step);
  }
}

void World::StepReaders(Node* node) {
  const std::vector<RunKey> following = node->executor->Following();
  for (const RunKey& key : following) {
    if (node->executor && node->executor->MayRead(key)) ReadAll(node, key);
  }
}

void World::ReadAll(Node* node, const RunKey& key) {
  for (const auto& [source, reports] : node->files[key]) {
    SourceOffset& at = node->read[key][source];
    at.source.name = source;
    SourceRead read;
    read.from = at.offset;
    for (const Report& report : reports) {
      if (report.end_offset <= at.offset) continue;
      ReportLine line;
      line.end_offset = report.end_offset;
      line.step = report.step;
      line.values[source == kSecond ? "memory" : "loss"] = report.value;
      read.lines.push_back(line);
    }
    if (read.lines.empty()) continue;
    at.offset = read.lines.back().end_offset;
    read.upto = at;
    Feed(node, SourceCame{key, read});
    if (!node->executor) return;
  }
}

}  // namespace hyperopt::simulation
