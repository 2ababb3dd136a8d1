// Repeats of configurations: which one is due, and what its results are worth.
#include <fmt/format.h>

#include "search/controller.h"
#include "search/recorded_history.h"

namespace hyperopt {

void Controller::RestoreRepeats(std::map<TrialId, Params> configurations) {
  if (config_.repeats == 1) return;
  configurations_ = std::move(configurations);
  race_.emplace(RaceOf(rows_, config_, TrialId(CurrentEra(sweep_).first)));
}

// A trial that was proposed or given.
void Controller::NoteConfiguration(TrialId id) {
  if (!race_) return;
  race_->OnCreated(id, std::nullopt);
  configurations_[id] = open_.at(id).params;
}

std::optional<TrialId> Controller::NextRepeat() const {
  return race_ ? race_->Next(more_proposals()) : std::nullopt;
}

TrialId Controller::BeginRepeat(TrialId first, Now now) {
  const TrialId id(std::ssize(rows_));
  TrialRow row;
  row.id = id;
  row.created = now.wall;
  row.parent = first;
  row.history = sweep_.last_event;
  AddRow(std::move(row));
  ++planned_;
  race_->OnCreated(id, first);
  Log("repeat",
      id,
      fmt::format("{{\"of\":{},\"repeat\":{},\"more\":{}}}",
                  first.value(),
                  race_->RepeatOf(id),
                  more_proposals()),
      now);
  const Params& params = configurations_.at(first);
  changes_.push_back(PutParams{id, params});
  open_[id].params = params;
  return id;
}

void Controller::NoteRepeat(const TrialRow& row) {
  if (!race_) return;
  if (const auto end = RepeatEndOf(row, config_.value == ValueRule::kBest)) {
    race_->OnEnded(row.id, *end);
  } else if (race_->EndOf(row.id)) {
    race_->OnReopened(row.id);
  }
}

// A sampler sees configurations: one of which a repeat has ended waits for nothing.
bool Controller::IsKnownAlready(TrialId id) const {
  return race_ && (race_->Of(id).known() || Row(id).parent);
}

void Controller::AddConfigurationToHistory(const TrialRow& row) {
  if (!sampler_->needs_history()) return;
  const Params& params = configurations_.at(race_->Of(row.id).first);
  if (!LiesWithin(config_.space, params)) return;
  PutNewest(ConfigurationEntry(*race_, row.id, params), &history_.ended);
}

// The incumbent is the best trial of the best configuration.
void Controller::NoteLeader() {
  const Standing* leader = race_->Leader();
  incumbent_.reset();
  if (leader == nullptr) return;
  incumbent_ = leader->best;
  incumbent_value_ = Objective::Of(leader->mean);
}

}  // namespace hyperopt
