// Ask and tell: what is learned of a trial's end, and repeats of configurations.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/ask_tell.h"
#include "search/recorded_history.h"

namespace hyperopt {

void AskTell::RestoreRepeats() {
  if (config_.repeats == 1) return;
  race_.emplace(RaceOf(rows_, config_, TrialId(0)));
  if (store_ != nullptr) configurations_ = ConfigurationsOf(*store_, rows_);
}

void AskTell::NoteCreated(const TrialRow& row) {
  if (!race_) return;
  race_->OnCreated(row.id, row.parent);
  if (!row.parent) configurations_[row.id] = open_.at(row.id).params;
}

std::optional<OrderedJson> AskTell::NextRepeat(bool more, Now now) {
  const std::optional<TrialId> due = race_ ? race_->Next(more) : std::nullopt;
  if (!due) return std::nullopt;
  TrialRow row;
  row.id = TrialId(std::ssize(rows_));
  row.state = TrialState::kRunning;
  row.attempt = Attempt(1);
  row.created = now.wall;
  row.started = now.wall;
  row.parent = *due;
  row.history = sweep_.last_event;
  RunRow run;
  run.key = {row.id, RunId(0), row.attempt};
  run.started = now.wall;
  const Params& params = configurations_.at(*due);
  changes_ = {PutTrial{row}, PutParams{row.id, params}, PutRun{run}};
  Log("repeat",
      row.id,
      fmt::format("{{\"of\":{},\"repeat\":{},\"more\":{}}}",
                  due->value(),
                  std::ssize(race_->Of(*due).trials),
                  more),
      now);
  Commit();
  rows_.push_back(row);
  open_[row.id].params = params;
  NoteCreated(row);
  return Handed(row.id);
}

// A sampler sees configurations: one of which a repeat has ended waits for nothing.
bool AskTell::IsKnownAlready(TrialId id) const {
  if (!race_) return false;
  return race_->Of(id).known() || race_->Of(id).first != id;
}

void AskTell::AddToHistory(const TrialRow& row) {
  Open& open = open_.at(row.id);
  const bool by_best = config_.value == ValueRule::kBest;
  if (race_) {
    race_->OnEnded(row.id, *RepeatEndOf(row, by_best));
    return PutNewest(ConfigurationEntry(*race_, row.id, open.params), &history_.ended);
  }
  HistoryEntry entry{row.id,
                     row.state,
                     std::move(open.params),
                     by_best ? row.best : row.last,
                     row.best_step,
                     0,
                     std::move(open.others)};
  if (row.attempt.value() > 1) {
    PutNewest(std::move(entry), &history_.ended);
  } else {
    history_.ended.push_back(std::move(entry));
  }
}

}  // namespace hyperopt
