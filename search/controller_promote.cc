// Trials that run in pieces: what waits at a rung goes on, gives its place to a copy of
// a better one, or ends with the sweep.
#include <fmt/format.h>

#include "search/controller.h"
#include "search/mutation.h"
#include "search/outcome.h"
#include "trial/json.h"

namespace hyperopt {

TrialId Controller::Promote(const Promotion& promotion, bool more, Now now) {
  const std::optional<TrialId> copy = Replace(promotion, now);
  if (copy) return *copy;
  TrialRow& row = Row(promotion.trial);
  Move(&row, TrialState::kPending, Reason::kPromoted, "");
  std::string detail = fmt::format("{{\"after\":{},\"more\":{}", promotion.after, more);
  if (promotion.parent) {
    detail += fmt::format(",\"no_checkpoint_of\":{}", promotion.parent->value());
  }
  Log("promoted", row.id, detail + "}", now);
  scheduler_.OnPromoted(row.id);
  return row.id;
}

// nullopt where the trial keeps its place: nothing better is named, or what is left no
// complete checkpoint.
std::optional<TrialId> Controller::Replace(const Promotion& promotion, Now now) {
  if (!promotion.parent || open_.at(*promotion.parent).checkpoints.empty()) {
    return std::nullopt;
  }
  const TrialId parent = *promotion.parent;
  const TrialId id(std::ssize(rows_));
  Open copy;
  copy.clone = CloneOf(parent);
  copy.params = Mutate(config_.space,
                       config_.scheduler.pbt,
                       open_.at(parent).params,
                       config_.sampler.seed,
                       id);
  copy.judged_time = copy.clone.time;
  copy.checkpoints.push_back({Attempt(0), copy.clone.step, copy.clone.checkpoint});

  Outcome outcome;
  outcome.state = TrialState::kStopped;
  outcome.reason = Reason::kReplaced;
  outcome.detail =
      fmt::format("by trial {}, a copy of trial {}", id.value(), parent.value());
  ApplyOutcome(&Row(promotion.trial), outcome, now);

  TrialRow row;
  row.id = id;
  row.created = now.wall;
  row.parent = parent;
  row.history = sweep_.last_event;
  AddRow(std::move(row));
  ++planned_;
  Log("replaced",
      id,
      fmt::format(
          "{{\"replaced\":{},\"parent\":{},\"after\":{},\"step\":{},\"done\":{},"
          "\"checkpoint\":{}}}",
          promotion.trial.value(),
          parent.value(),
          promotion.after,
          copy.clone.step,
          copy.clone.time,
          QuoteJson(copy.clone.checkpoint)),
      now);
  changes_.push_back(PutParams{id, copy.params});
  for (const RungRow& entry :
       scheduler_.OnReplaced(promotion.trial, id, parent, copy.clone.time)) {
    changes_.push_back(PutRung{entry});
  }
  open_[id] = std::move(copy);
  return id;
}

CloneStart Controller::CloneOf(TrialId parent) const {
  const Open& open = open_.at(parent);
  const Checkpoint& newest = open.checkpoints.back();
  CloneStart clone;
  clone.checkpoint = CheckpointPath(parent, RunId(0), newest);
  clone.step = newest.step;
  const std::string& attr = config_.scheduler.time_attr;
  clone.time = attr == "training_iteration" ? TimeAtStep(open, newest.step)
               : attr == "step"             ? newest.step
                                            : open.judged_time;
  return clone;
}

// How many reports with the objective were made up to a step, those included that the
// trial it is a copy of made before.
int64_t Controller::TimeAtStep(const Open& open, int64_t step) const {
  const int64_t own = open.curve.CountUpTo(step);
  if (open.clone.step == 0 || step < open.clone.step) return own;
  return open.clone.time + own - open.curve.CountUpTo(open.clone.step);
}

// A trial that knows its budget ends by itself when it has reached it: only one that
// goes on is told to stop, so that the others can save in peace.
bool Controller::OrderIsDue(const Live& live, Reason reason) const {
  if (!live.launch.budget || live.overran) return true;
  if (reason != Reason::kRung && reason != Reason::kMaxTime) return true;
  return interrupting() || budget_over_;
}

void Controller::NoteOverrun(Live* live) {
  const std::optional<Reason> reason = Row(live->row.key.trial).stopping;
  if (!reason || OrderIsDue(*live, *reason)) return;
  live->overran = true;
  OrderStop(*live, *reason);
}

// The attempt was presumed lost when it had run as far as it was launched for: what it
// left is where its trial goes on.
void Controller::TakeLateCheckpoints(const Exited& exited) {
  const auto lost = lost_.find(exited.key.trial);
  if (lost == lost_.end() || lost->second.row.key != exited.key) return;
  if (Row(exited.key.trial).state != TrialState::kPaused) return;
  RunRow run = lost->second.row;
  lost_.erase(lost);
  run.checkpoints = exited.checkpoints;
  for (int64_t step : exited.checkpoints) {
    open_.at(run.key.trial).checkpoints.push_back({run.key.attempt, step, ""});
  }
  changes_.push_back(PutRun{std::move(run)});
}

// Said once: it costs what the earlier attempts did.
void Controller::NoteRestart(const TrialRow& row, const Launch& launch, Now now) {
  const bool again = row.reports > 0 && launch.resume_from.empty();
  if (!launch.budget || !again || restart_said_) return;
  restart_said_ = true;
  Log("restarts", row.id, "", now);
}

void Controller::CompletePaused(Now now) {
  for (TrialRow& row : rows_) {
    if (row.state != TrialState::kPaused) continue;
    Outcome outcome;
    outcome.state = TrialState::kCompleted;
    outcome.detail =
        fmt::format("as it stood at step {} when the sweep was over", row.last_step);
    ApplyOutcome(&row, outcome, now);
  }
}

}  // namespace hyperopt
