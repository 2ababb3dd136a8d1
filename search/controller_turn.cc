// A turn's end: who is presumed dead, what starts, what is over, what is committed.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "search/controller.h"
#include "search/standby.h"

namespace hyperopt {
namespace {

constexpr double kSweepPutEveryS = 1;
constexpr double kAckEveryS = 0.1;
constexpr double kTickEveryS = 0.5;
constexpr size_t kAcksAtOnce = 64;

}  // namespace

Turn Controller::TakeTurn(Now now) {
  CheckMembers(now);
  CheckBudget(now);
  RecallOverdue(now);
  PlaceTrials(now);
  FillStandbys(now);
  CheckEnd(now);
  if (now.steady >= next_sweep_put_ && !end_) {
    changes_.push_back(PutSweep{SweepNow(now)});
    next_sweep_put_ = now.steady + Seconds(kSweepPutEveryS);
  }
  next_tick_ = now.steady + TickEvery();
  const bool had_ended = ended_already_;
  ended_already_ = end_.has_value();
  FlushEnded(now);
  if (end_ && !had_ended) {
    // After the last acknowledgements: who is told to leave does not wait for more.
    for (const auto& [id, member] : fleet_.members()) {
      if (member.present) Send(member, Shutdown{});
    }
  }
  Turn turn;
  CollectChanges(&turn.changes);
  turn.sends = std::exchange(sends_, {});
  turn.end = end_;
  return turn;
}

void Controller::CollectChanges(std::vector<RecordChange>* changes) {
  // Rows of trials go first: what names a trial comes after it.
  for (TrialId id : dirty_trials_) changes->push_back(PutTrial{Row(id)});
  dirty_trials_.clear();
  std::move(changes_.begin(), changes_.end(), std::back_inserter(*changes));
  changes_.clear();
  for (const RunKey& key : dirty_offsets_) {
    const Live* live = FindLive(key);
    if (live == nullptr) continue;
    for (const SourceOffset& offset : OffsetsOf(*live)) {
      changes->push_back(PutOffset{key, offset});
    }
  }
  dirty_offsets_.clear();
}

Duration Controller::TickEvery() const {
  return Seconds(std::min(kTickEveryS, timing_.heartbeat_s));
}

void Controller::CheckMembers(Now now) {
  const Duration beat = Seconds(timing_.heartbeat_s);
  // A gap (SIGSTOP, a suspended machine) is nobody's silence.
  const Duration gap = now.steady - last_tick_;
  // Turns without news are a tick apart by choice.
  if (gap > 2 * beat + TickEvery()) {
    for (auto& [id, member] : fleet_.members()) {
      member.heard = std::min(member.heard + gap, now.steady);
      member.turn_changed = std::min(member.turn_changed + gap, now.steady);
    }
    last_executor_ = std::min(last_executor_ + gap, now.steady);
  }
  last_tick_ = now.steady;
  for (ExecutorId id : fleet_.JudgeSilence(now.steady - 3 * beat)) {
    Log("executor silent", std::nullopt, std::to_string(id.value()), now);
  }
  const Duration stop_limit =
      Seconds(timing_.controller_lost_s + timing_.stop_grace_s) + 2 * beat;
  for (auto& [id, member] : fleet_.members()) {
    if (member.present && !member.silent) last_executor_ = now.steady;
    if (member.runs.empty()) continue;
    const bool stops = member.policy == LostPolicy::kStop;
    const Duration limit =
        stops ? stop_limit : Seconds(config_.executor.reassign_after_s);
    if (now.steady - member.heard <= limit) continue;
    LoseMember(&member, "its executor was not heard from", now);
  }
}

void Controller::CheckBudget(Now now) {
  const std::optional<double>& budget = config_.executor.time_budget_s;
  if (!budget || budget_over_ || alive_s(now) < *budget) return;
  budget_over_ = true;
  Log("budget over", std::nullopt, "", now);
  const std::set<TrialId> pending = pending_;
  for (TrialId id : pending) {
    TrialRow& row = Row(id);
    row.ended = now.wall;
    Move(&row, TrialState::kStopped, Reason::kBudget, "");
    open_.erase(id);
  }
  for (auto& [key, live] : live_) {
    if (live.after) {
      Recall(&live);  // what has not begun may run under another budget
      continue;
    }
    if (const auto& stopping = Row(key.trial).stopping) OrderStop(live, *stopping);
    CommitStop(&live, Reason::kBudget, now);
  }
}

void Controller::PlaceTrials(Now now) {
  const auto limit = config_.executor.max_concurrent_trials;
  while (!stop_ && !budget_over_ && !failure_ && !end_ && !paused_) {
    if (limit && placed() >= *limit) return;
    const bool more = more_proposals();
    if (pending_.empty() && !more && !scheduler_.NextPromotion(more) && !NextRepeat()) {
      return;
    }
    const std::optional<Placement> placement =
        fleet_.FindPlace(config_.executor.resources);
    if (!placement) return;
    const bool over = most_gpus_ && OverGpus(*placement);
    const std::optional<TrialId> id = over ? std::nullopt : NextTrial(now);
    if (!id) {
      fleet_.Reopen(placement->executor);
      return;
    }
    LaunchTrial(*id, *placement, std::nullopt, now);
  }
}

// Pending ones first, by number; then what the scheduler lets go on; then a repeat that
// is due; else a new proposal.
std::optional<TrialId> Controller::NextTrial(Now now) {
  if (!pending_.empty()) return *pending_.begin();
  const bool more = more_proposals();
  if (const auto promotion = scheduler_.NextPromotion(more)) {
    return Promote(*promotion, more, now);
  }
  if (const auto due = NextRepeat()) return BeginRepeat(*due, now);
  const TrialId id(std::ssize(rows_));
  history_.pending.clear();
  if (sampler_->needs_history()) {
    for (const auto& [open_id, open] : open_) {
      const TrialRow& row = Row(open_id);
      if (IsFinished(row.state) || !LiesWithin(config_.space, open.params)) continue;
      if (rested_.contains(open_id) || IsKnownAlready(open_id)) continue;
      history_.pending.push_back(
          {open_id, row.state, open.params, RankedBy(row), row.best_step});
    }
  }
  std::optional<Params> params = sampler_->Suggest(TrialId(cursor_.next()), history_);
  if (!params) {
    sampler_exhausted_ = true;
    if (const auto due = NextRepeat()) return BeginRepeat(*due, now);
    return std::nullopt;
  }
  TrialRow row;
  row.id = id;
  row.created = now.wall;
  row.history = sweep_.last_event;
  cursor_.Take();
  AddRow(std::move(row));
  changes_.push_back(PutParams{id, *params});
  open_[id].params = std::move(*params);
  NoteConfiguration(id);
  return id;
}

void Controller::AddRow(TrialRow row) {
  ++counts_.pending;
  pending_.insert(row.id);
  Touch(row.id);
  rows_.push_back(std::move(row));
}

std::string Controller::CheckpointPath(TrialId trial, RunId run, const Checkpoint& at) {
  if (!at.path.empty()) return at.path;
  return fmt::format("trials/{}/{}/{}/checkpoints/{}",
                     trial.value(),
                     run.value(),
                     at.attempt.value(),
                     at.step);
}

void Controller::LaunchTrial(TrialId id,
                             const Placement& placement,
                             std::optional<RunKey> after,
                             Now now) {
  TrialRow& row = Row(id);
  Open& open = open_[id];
  Member& member = *fleet_.Find(placement.executor);
  lost_.erase(id);
  row.attempt = Attempt(row.attempt.value() + 1);
  if (row.started == 0) row.started = now.wall;
  Move(&row, TrialState::kRunning, Reason::kNone, "");

  const RunKey key{id, RunId(0), row.attempt};
  Live& live = live_[key];
  live_of_[id] = key;
  member.runs.insert(key);
  if (after) {
    ++standing_by_;
    live_.at(*after).heir = key;
    live.after = live.launch.after = after;
    live.stood_by = true;
  } else {
    fleet_.Take(placement, config_.executor.resources.gpu_memory);
    new_heads_.insert(key);
  }
  live.placement = placement;
  live.sent = live.placed = now.steady;
  live.sent_to = member.life;

  Launch& launch = live.launch;
  launch.key = key;
  launch.params = open.params;
  launch.seed = SeedOfTrial(config_.sampler.seed, id);
  const ResourceRequest& request = config_.executor.resources;
  launch.ranks = request.ranks;
  launch.hide_gpus = request.hide_gpus;
  launch.cpus_per_rank = Share::Micro(request.cpus.micro() / request.ranks);
  launch.wall_limit_s = config_.executor.trial_wall_s;
  if (!placement.ranks.empty()) launch.device_share = placement.ranks.front().share;
  for (const Placement::Rank& rank : placement.ranks) {
    std::vector<std::string> devices;
    for (int index : rank.devices) {
      devices.push_back(member.offer.total.devices[static_cast<size_t>(index)].id);
      live.row.devices.push_back(devices.back());
    }
    launch.devices.push_back(std::move(devices));
  }
  if (!open.checkpoints.empty()) {
    const Checkpoint& newest = open.checkpoints.back();
    launch.resume_from = CheckpointPath(id, key.run, newest);
    launch.first_step = newest.step;
  }
  launch.budget = scheduler_.Budget(id);
  NoteRestart(row, launch, now);
  live.step = live.metric_step = launch.first_step;
  live.iterations = TimeAtStep(open, launch.first_step);

  live.row.key = key;
  live.row.executor = member.id;
  live.row.host = member.host;
  live.row.started = now.wall;
  live.row.placement = PlacementToText(placement);
  if (after) live.row.placement = PlacedBehind(live.row.placement, *after);
  live.row.resume_from = launch.resume_from;
  changes_.push_back(PutRun{live.row});
  Log("launched",
      id,
      fmt::format(
          "{{\"attempt\":{},\"executor\":{}}}", key.attempt.value(), member.id.value()),
      now);
  Send(member, launch);
}

void Controller::CheckEnd(Now now) {
  if (end_) return;
  const double grace = stop_ == StopKind::kKill ? 0 : config_.executor.stop_grace_s;
  const double overdue = grace + 5;
  if (stop_ && stop_ != StopKind::kDrain && now.steady - stop_at_ > Seconds(overdue)) {
    return End(SweepState::kInterrupted,
               {ExitCode::kInterrupted, "interrupted; some trials did not end in time"},
               now);
  }
  if (failure_ && !interrupted_for_failure_) {
    interrupted_for_failure_ = true;
    InterruptAll();
  }
  const Duration alone = now.steady - last_executor_;
  if (alone > Seconds(config_.executor.reassign_after_s)) {
    return End(SweepState::kInterrupted,
               {ExitCode::kEnvironment,
                "no executor was heard from for " +
                    std::to_string(static_cast<int64_t>(ToSeconds(alone))) + " s"},
               now);
  }
  if (!live_.empty()) return;
  if (failure_) return End(SweepState::kFailed, *failure_, now);
  const bool waits = !pending_.empty() || more_proposals() ||
                     scheduler_.NextPromotion(more_proposals()).has_value() ||
                     NextRepeat().has_value();
  if (budget_over_ || !waits) {
    CompletePaused(now);
    const bool useful = counts_.completed > 0 || incumbent_.has_value();
    return End(SweepState::kFinished,
               useful ? SweepEnd{ExitCode::kDone, ""}
                      : SweepEnd{ExitCode::kNoTrialCompleted, "no trial completed"},
               now);
  }
  if (stop_)
    End(SweepState::kInterrupted, {ExitCode::kInterrupted, "interrupted"}, now);
}

void Controller::End(SweepState state, SweepEnd end, Now now) {
  sweep_.state = state;
  end_ = std::move(end);
  changes_.push_back(PutSweep{SweepNow(now)});
}

SweepRow Controller::SweepNow(Now now) const {
  SweepRow row = sweep_;
  row.alive_s = alive_s(now);
  return row;
}

void Controller::FlushEnded(Now now) {
  if (ended_acks_.empty()) return;
  size_t waiting = 0;
  for (const auto& [id, keys] : ended_acks_) waiting += keys.size();
  // A turn that sends anything takes them along; the peer is woken once.
  if (sends_.empty() && waiting < kAcksAtOnce && now.steady < next_ack_ && !end_) {
    next_tick_ = std::min(next_tick_, next_ack_);
    return;
  }
  next_ack_ = now.steady + Seconds(kAckEveryS);
  for (auto& [id, keys] : ended_acks_) {
    const Member* member = fleet_.Find(id);
    if (member == nullptr || !member->present) continue;
    Answer answer;
    answer.ended = std::move(keys);
    answer.acks = std::move(last_acks_[id]);
    Send(*member, std::move(answer));
  }
  ended_acks_.clear();
  last_acks_.clear();
}

}  // namespace hyperopt
