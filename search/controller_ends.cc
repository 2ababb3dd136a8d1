// Ends: of attempts, of executors, of the sweep.
#include <fmt/format.h>

#include <algorithm>

#include "search/controller.h"
#include "search/objectives.h"
#include "search/recorded_history.h"
#include "trial/failpoint.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr double kFastFailureS = 10;
constexpr size_t kFastFailuresInARow = 3;

bool IsFast(const ExitInfo& info, bool any_report) {
  return info.wall_s < kFastFailureS && !any_report;
}

// What stop.json says; a trial that has run as far as it was launched for, or to max_t,
// has used up its budget.
Reason WordFor(Reason reason) {
  const bool used_up = reason == Reason::kMaxTime || reason == Reason::kRung;
  return used_up ? Reason::kBudget : reason;
}

}  // namespace

void Controller::OnMessage(const std::string& peer, const Exited& exited, Now now) {
  Member* member = fleet_.FindPeer(peer);
  if (member == nullptr || member->id != exited.id || !member->present) {
    sends_.push_back({peer, HelloAgain{}});
    return;
  }
  fleet_.Heard(member, now.steady);
  Live* live = FindLive(exited.key);
  if (live == nullptr && Defective("no_fence")) {
    const auto current = live_of_.find(exited.key.trial);
    if (current != live_of_.end()) live = FindLive(current->second);
  }
  if (live == nullptr) {
    live = TakeBackReturned(member, exited.key, Comeback::kEnded, now);
  }
  if (live != nullptr && live->row.executor != member->id) return;
  if (live == nullptr) {
    TakeLateCheckpoints(exited);
    ended_acks_[member->id].push_back(exited.key);
    return;
  }
  // All its reports first: what is missing is read again after the next answer.
  for (const SourceOffset& at : exited.offsets) {
    const auto have = live->offsets.find(at.source.name);
    if (PlaceOf(at) >
        (have == live->offsets.end() ? kNowhere : PlaceOf(have->second))) {
      return;
    }
  }
  if (exited.oddities.any()) {
    Log("odd lines", exited.key.trial, OddToJson(exited.oddities), now);
  }
  live->odd = exited.oddities;
  live->row.checkpoints = exited.checkpoints;
  for (int64_t step : exited.checkpoints) {
    open_[exited.key.trial].checkpoints.push_back({live->row.key.attempt, step});
  }
  const bool has_checkpoints = !exited.checkpoints.empty();
  const std::vector<int64_t> further_best = FurtherBest(exited.key.trial);
  ended_acks_[member->id].push_back(exited.key);
  EndRun(live, exited.info, now);
  if (!has_checkpoints) return;
  const TrialRow& row = Row(exited.key.trial);
  last_acks_[member->id].push_back(
      {exited.key, {}, row.best_step, row.last_step, further_best});
}

void Controller::EndRun(Live* live, const ExitInfo& end, Now now) {
  const RunKey key = live->row.key;
  ExitInfo info = end;
  if (info.lost && live->stood_by && !live->seen_running) {
    // Lost before it began: that is nobody's fault and nothing to count.
    info.lost = false;
    info.asked = Reason::kPreempted;
  }
  TrialRow& row = Row(key.trial);
  Open& open = open_[key.trial];
  Outcome outcome =
      DecideOutcome(row, info, config_.executor, metric_, live->seen, live->odd);
  if (outcome.state == TrialState::kCompleted) {
    RequireObjectives(open.others, config_, &outcome);
  }
  const bool memory = info.host_memory || info.device_memory;
  const bool fast_fault =
      outcome.own_fault && info.started && !memory && IsFast(info, live->any_report);
  if (fast_fault && !live->launch.resume_from.empty() && !open.checkpoints.empty()) {
    // A checkpoint that does not load is dropped after one fast failure, and the one
    // before it is tried; that is not the trial's fault.
    std::erase_if(open.checkpoints, [&](const Checkpoint& checkpoint) {
      return CheckpointPath(key.trial, key.run, checkpoint) == live->launch.resume_from;
    });
    outcome.state = TrialState::kPending;
    outcome.reason = Reason::kRetry;
    outcome.own_fault = false;
    outcome.detail = "the checkpoint of step " +
                     std::to_string(live->launch.first_step) + " did not load";
  }
  live->row.ended = info.ended_wall > 0 ? info.ended_wall : now.wall;
  live->row.exit_code = info.exit_code;
  live->row.signal = info.signal;
  live->row.outcome = outcome.run_outcome;
  live->row.peak_memory = info.peak_memory;
  row.elapsed_s += info.lost ? live->max_elapsed : info.wall_s;
  NoteLength(info);
  CorrectStart(live, info);
  changes_.push_back(PutRun{live->row});
  NoteFastFailure(*live, info, outcome);
  if (Member* member = fleet_.Find(live->row.executor)) member->runs.erase(key);
  const bool rests = info.lost && outcome.state == TrialState::kPaused;
  if (rests || (outcome.lost && outcome.state == TrialState::kPending)) {
    lost_[key.trial] = *live;
  }
  if (!info.last_words.empty() && outcome.own_fault) {
    last_words_ = info.last_words;
  }
  live_of_.erase(key.trial);
  const Live ended = std::move(live_.at(key));
  live_.erase(key);
  PassPlace(key, ended, now);
  ApplyOutcome(&row, outcome, now);
}

void Controller::ApplyOutcome(TrialRow* row, const Outcome& outcome, Now now) {
  if (outcome.own_fault) ++row->failures;
  if (outcome.lost) ++row->lost;
  row->stopping.reset();
  if (IsFinished(outcome.state)) row->ended = now.wall;
  Move(row, outcome.state, outcome.reason, outcome.detail);
  // Where it is run once more the row forgets what a sampler was told.
  const std::string elapsed = outcome.state == TrialState::kFailed
                                  ? fmt::format(",\"elapsed_s\":{}", row->elapsed_s)
                                  : "";
  Log("ended",
      row->id,
      fmt::format("{{\"attempt\":{},\"state\":\"{}\",\"reason\":\"{}\"{}}}",
                  row->attempt.value(),
                  ToString(outcome.state),
                  ToString(outcome.reason),
                  elapsed),
      now);
  if (outcome.state == TrialState::kFailed) {
    for (const RungRow& entry : scheduler_.OnFailed(row->id)) {
      changes_.push_back(PutRung{entry});
    }
  }
  const bool rests = outcome.state == TrialState::kPaused;
  if (rests) scheduler_.OnPaused(row->id);
  if (IsFinished(outcome.state)) scheduler_.OnEnded(row->id);
  NoteIncumbent(*row);
  if (rests || IsFinished(outcome.state)) AddToHistory(*row);
  if (IsFinished(outcome.state)) {
    if (race_ || incumbent_ != row->id) open_.erase(row->id);
  }
  CheckInitialFailures();
}

void Controller::AddToHistory(const TrialRow& row) {
  if (race_) return AddConfigurationToHistory(row);
  const Params& params = open_[row.id].params;
  // Given by hand, or of another era: a sampler learns from its own space.
  if (!sampler_->needs_history() || !LiesWithin(config_.space, params)) return;
  if (row.state == TrialState::kPaused) {
    rested_.insert(row.id);
    HistoryEntry rest = RestOf(row, params, config_.value);
    rest.others = open_[row.id].others;
    return PutNewest(std::move(rest), &history_.ended);
  }
  HistoryEntry entry{row.id,
                     row.state,
                     params,
                     RankedBy(row),
                     row.best_step,
                     row.elapsed_s,
                     open_[row.id].others};
  if (rested_.erase(row.id) > 0) return PutNewest(std::move(entry), &history_.ended);
  history_.ended.push_back(std::move(entry));
}

// A node that fails trials which others complete takes no more of them.
void Controller::NoteFastFailure(const Live& live,
                                 const ExitInfo& info,
                                 const Outcome& outcome) {
  Member* member = fleet_.Find(live.row.executor);
  if (member == nullptr) return;
  if (!outcome.own_fault || !IsFast(info, live.any_report)) {
    if (!outcome.lost) member->fast_failures.clear();
    const bool good =
        outcome.state == TrialState::kCompleted || outcome.state == TrialState::kPaused;
    if (!good) return;
    for (auto& [id, other] : fleet_.members()) {
      if (id != member->id && !other.fast_failures.empty())
        other.others_completed = true;
    }
    return;
  }
  if (member->fast_failures.empty()) member->others_completed = false;
  member->fast_failures.insert(live.row.key.trial);
  if (member->fast_failures.size() < kFastFailuresInARow) return;
  if (!member->others_completed || member->put_aside) return;
  member->put_aside = true;
  fleet_.Usability(member);
}

void Controller::CheckInitialFailures() {
  if (failure_ || counts_.completed + counts_.paused > 0) return;
  if (counts_.failed == 0) return;
  if (counts_.failed < config_.executor.max_initial_failures) return;
  if (counts_.finished() != counts_.failed) return;
  std::string why;
  for (const TrialRow& row : rows_) {
    if (row.state == TrialState::kFailed) why = row.detail;
  }
  failure_ = SweepEnd{
      ExitCode::kNoTrialCompleted,
      fmt::format("no trial completed before {} failed (max_initial_failures): {}",
                  config_.executor.max_initial_failures,
                  why)};
}

// The executor is presumed dead, with all it ran. The attempts may still run somewhere:
// the fence is the attempt number.
void Controller::LoseMember(Member* member, const std::string& why, Now now) {
  const std::set<RunKey> runs = member->runs;
  for (const RunKey& key : runs) {
    Live* live = FindLive(key);
    if (live == nullptr) continue;
    ExitInfo info;
    info.lost = true;
    info.error = why;
    EndRun(live, info, now);
  }
  // Nothing is placed there before it has said anew what it holds.
  member->present = false;
  fleet_.Usability(member);
}

// An attempt that was presumed lost and was not launched again goes on as it is; one
// that has ended meanwhile needs no room.
Controller::Live* Controller::TakeBackReturned(Member* member,
                                               const RunKey& key,
                                               Comeback comeback,
                                               Now now) {
  const auto lost = lost_.find(key.trial);
  if (!IsAwaited(key) || lost == lost_.end()) return nullptr;
  if (lost->second.row.executor != member->id) return nullptr;
  std::optional<Placement> placement =
      PlacementFromText(member->id, lost->second.row.placement);
  if (comeback == Comeback::kEnded) placement.reset();
  if (placement && !CanTake(*placement, member->offer)) return nullptr;
  TrialRow& row = Row(key.trial);
  Live& live = live_[key];
  live = std::move(lost->second);
  live.after = live.heir = live.launch.after = std::nullopt;
  live.wanted.reset();
  live.recalled = false;
  live.placed = now.steady;
  lost_.erase(lost);
  live.row.host = member->host;
  live.row.ended = 0;
  live.row.outcome.clear();
  live.confirmed = true;
  live.sent = now.steady;
  live.placement = placement;
  if (placement) fleet_.Take(*placement);
  live_of_[key.trial] = key;
  over_limit_ = std::max(over_limit_, placed());
  member->runs.insert(key);
  changes_.push_back(PutRun{live.row});
  --row.lost;
  row.elapsed_s -= live.max_elapsed;
  Move(&row, TrialState::kRunning, Reason::kNone, "");
  Log("returned", key.trial, "", now);
  return &live;
}

void Controller::CommitStop(Live* live, Reason reason, Now now) {
  TrialRow& row = Row(live->row.key.trial);
  if (row.stopping) return;
  row.stopping = reason;
  Touch(row.id);
  Log(reason == Reason::kRung ? "at rung" : "stop",
      row.id,
      fmt::format("{{\"reason\":\"{}\"}}", ToString(reason)),
      now);
  if (OrderIsDue(*live, reason)) OrderStop(*live, reason);
}

void Controller::OrderStop(const Live& live, Reason reason) {
  const Member* member = fleet_.Find(live.row.executor);
  if (member == nullptr || !member->present) return;
  const double grace = stop_ == StopKind::kKill ? 0 : config_.executor.stop_grace_s;
  Send(*member, Stop{live.row.key, WordFor(reason), grace});
}

bool Controller::interrupting() const {
  return failure_.has_value() || (stop_ && *stop_ != StopKind::kDrain);
}

// Puts back what runs: the stop contract, then pending again. Nothing of it is
// committed: an interruption is uncounted, and who comes back first decides.
void Controller::InterruptAll() {
  for (const auto& [key, live] : live_) {
    const auto& stopping = Row(key.trial).stopping;
    // A second signal shortens the grace of those that were told to stop before.
    const bool told = stopping && (live.overran || !live.launch.budget);
    if (!told || stop_ == StopKind::kKill) {
      OrderStop(live, stopping.value_or(Reason::kInterrupted));
    }
  }
}

}  // namespace hyperopt
