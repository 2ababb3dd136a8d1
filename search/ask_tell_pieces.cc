// Ask and tell, where trials run in pieces: what waits at a rung, and goes on.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/ask_tell.h"
#include "search/recorded_history.h"
#include "trial/errors.h"

namespace hyperopt {

// The trial has come to its rung: its attempt is over.
void AskTell::Rest(TrialRow* row, Now now) {
  End(row, TrialState::kPaused, Reason::kRung, now);
}

// Handed out again: what it has done so far, the one who asks keeps.
OrderedJson AskTell::GoOn(const Promotion& promotion, bool more, Now now) {
  const TrialId id = promotion.trial;
  TrialRow& kept = rows_[static_cast<size_t>(id.value())];
  TrialRow row = kept;
  row.state = TrialState::kRunning;
  row.reason = Reason::kNone;
  row.attempt = Attempt(row.attempt.value() + 1);
  Log("promoted",
      id,
      fmt::format("{{\"after\":{},\"more\":{}}}", promotion.after, more),
      now);
  RunRow run;
  run.key = {id, RunId(0), row.attempt};
  run.started = now.wall;
  run.resume_from = fmt::format("client/{}", row.last_step);
  changes_.push_back(PutTrial{row});
  changes_.push_back(PutRun{run});
  Commit();
  kept = row;
  open_.at(id).began = run.resume_from;
  scheduler_->OnPromoted(id);
  return Handed(id);
}

// No trial is left to propose.
OrderedJson AskTell::NothingLeft(Now now) {
  if (auto repeat = NextRepeat(false, now)) return *std::move(repeat);
  // What is out may yet show whose next repeat is due.
  if (race_ && !open_.empty()) return {{"wait", true}};
  if (const auto next = scheduler_->NextPromotion(false)) {
    return GoOn(*next, false, now);
  }
  std::vector<TrialId> resting;
  for (const auto& [id, open] : open_) {
    const bool rests =
        rows_[static_cast<size_t>(id.value())].state == TrialState::kPaused;
    if (!rests && config_.scheduler.pieces()) return {{"wait", true}};
    if (rests) resting.push_back(id);
  }
  for (TrialId id : resting) {
    TrialRow& row = rows_[static_cast<size_t>(id.value())];
    row.detail =
        fmt::format("as it stood at step {} when the sweep was over", row.last_step);
    End(&row, TrialState::kCompleted, Reason::kNone, now);
    changes_.push_back(PutTrial{row});
  }
  if (!resting.empty()) Commit();
  for (TrialId id : resting) {
    scheduler_->OnEnded(id);
    open_.erase(id);
  }
  return {{"done", true}};
}

// A client that ends what is to stop, as in stopping mode, says nothing new; one that
// says the trial has ended means it.
OrderedJson AskTell::TellResting(TrialRow* kept, const OrderedJson& request, Now now) {
  const auto stopped = request.find("stopped");
  if (stopped != request.end() && *stopped == true) return {{"ok", true}};
  if (request.contains("state") && request["state"] != "completed") {
    throw ConfigError(fmt::format("trial {} waits at its rung, where it can not fail",
                                  kept->id.value()));
  }
  TrialRow row = *kept;
  End(&row, TrialState::kCompleted, Reason::kNone, now);
  changes_.push_back(PutTrial{row});
  Commit();
  *kept = row;
  scheduler_->OnEnded(row.id);
  HistoryEntry entry = RestOf(row, open_.at(row.id).params, config_.value);
  entry.others = open_.at(row.id).others;
  entry.state = row.state;
  entry.step = row.best_step;
  PutNewest(std::move(entry), &history_.ended);
  open_.erase(row.id);
  return {{"ok", true}};
}

}  // namespace hyperopt
