#include "tests/simulation/world.h"

#include <algorithm>
#include <stdexcept>

#include "executors/codec.h"
#include "search/recorded_history.h"
#include "trial/errors.h"
#include "trial/failpoint.h"

namespace hyperopt::simulation {
namespace {

constexpr double kStepS = 0.05;
constexpr double kDownS = 1.5;

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
  scheduler_ = MakeScheduler(
      options_.config.scheduler, options_.config.goal, options_.config.sampler.seed);
  ControllerStart start;
  start.record = *store_->Load();
  SearchConfig config = options_.config;
  config.sampler.num_samples += start.record.sweep.extra_trials;
  sampler_ = MakeSampler(config.space, config.sampler);
  std::vector<TrialId> ids;
  for (const TrialRow& row : start.record.trials) {
    if (IsFinished(row.state)) continue;
    ids.push_back(row.id);
    start.reports[row.id] = store_->LoadReports(row.id);
    start.runs[row.id] = store_->LoadRuns(row.id);
  }
  start.curves = RecordedCurves(*store_, config, start.reports);
  std::vector<Params> params = store_->LoadParams(ids);
  for (size_t i = 0; i < ids.size(); ++i) start.params[ids[i]] = params[i];
  start.clones = RecordedClones(*store_);
  if (config.repeats > 1) {
    start.configurations = ConfigurationsOf(*store_, start.record.trials);
  }
  if (sampler_->needs_history()) {
    start.history = EndedHistory(*store_, start.record.trials, config);
  }
  controller_ = std::make_unique<Controller>(
      config, *sampler_, *scheduler_, std::move(start), Now{now_, seconds()});
  held_.reset();
  inbox_.clear();
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

void World::AskToStop(StopKind kind) {
  controller_->Handle(StopAsked{kind}, Now{now_, seconds()});
}

bool World::Ask(const ChangeRequest& request) {
  if (!controller_ || held_ || end_) return false;
  controller_->Change(request, Now{now_, seconds()});
  return true;
}

void World::Cut(int node, double seconds) {
  nodes_[static_cast<size_t>(node)].cut_until = now_ + Seconds(seconds);
}

void World::Quit(int node) {
  nodes_[static_cast<size_t>(node)].left = true;
  Feed(&nodes_[static_cast<size_t>(node)], QuitAsked{});
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
      if (options_.check_invariants) controller_->CheckInvariants();
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

}  // namespace hyperopt::simulation
