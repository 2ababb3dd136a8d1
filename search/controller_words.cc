// What the controller says of itself: explanations and the checks of its books.
#include <fmt/format.h>

#include <stdexcept>

#include "search/controller.h"
#include "search/outcome.h"

namespace hyperopt {

std::vector<std::string> Controller::Explain(TrialId id, Now now) const {
  if (id.value() < 0 || id.value() >= planned_) {
    return {
        fmt::format("there is no trial {}: the sweep has {}", id.value(), planned_)};
  }
  if (id.value() >= std::ssize(rows_)) {
    const int64_t before = id.value() - std::ssize(rows_) + std::ssize(pending_);
    std::vector<std::string> lines = {
        fmt::format("trial {} is not proposed yet: {}",
                    id.value(),
                    before == 0   ? "it is the next"
                    : before == 1 ? "one is before it"
                                  : fmt::format("{} are before it", before))};
    for (std::string& line : WhyNothingStarts()) lines.push_back(std::move(line));
    return lines;
  }
  const TrialRow& row = Row(id);
  const auto key = live_of_.find(id);
  const bool waits = key != live_of_.end() && live_.at(key->second).after;
  TrialRow shown = row;
  if (waits) shown.state = TrialState::kPending;
  std::vector<std::string> lines = {StateText(shown)};
  if (IsGiven(row)) lines.push_back("given by hand, with hyperopt add");
  if (row.parent) lines.push_back(ParentText(row, config_.repeats));
  if (const std::string awaited = scheduler_.WaitsFor(id); !awaited.empty()) {
    lines.push_back(awaited);
  }
  if (row.state == TrialState::kPending) {
    for (std::string& line : WhyNothingStarts()) lines.push_back(std::move(line));
  }
  if (key == live_of_.end()) return lines;
  const Live& live = live_.at(key->second);
  const Member* member = fleet_.Find(live.row.executor);
  if (waits) {
    lines.push_back(fmt::format("stands by on {} for the place of trial {}",
                                member == nullptr ? "?" : member->offer.name,
                                live.after->trial.value()));
  }
  lines.push_back(
      fmt::format("attempt {} on {}{}, last heard {:.1f} s ago",
                  row.attempt.value(),
                  member == nullptr ? "?" : member->offer.name,
                  live.seen_running ? "" : ", not confirmed yet",
                  member == nullptr ? 0 : ToSeconds(now.steady - member->heard)));
  if (!live.why.empty()) lines.push_back("waits there: " + live.why);
  if (row.stopping && OrderIsDue(live, *row.stopping)) {
    lines.push_back(fmt::format("told to stop: {}", ToString(*row.stopping)));
  } else if (row.stopping) {
    lines.push_back("has run as far as it was launched for, and is about to end");
  } else if (live.launch.budget) {
    lines.push_back(
        fmt::format("runs to {} of {}", *live.launch.budget, config_.scheduler.max_t));
  }
  return lines;
}

std::vector<std::string> Controller::WhyNothingStarts() const {
  if (stop_) return {"the sweep is stopping"};
  if (budget_over_) return {"the time budget is over"};
  if (failure_) return {failure_->why};
  if (paused_) return {"paused: nothing new starts until `hyperopt unpause`"};
  const auto limit = config_.executor.max_concurrent_trials;
  if (limit && placed() >= *limit) {
    return {fmt::format(
        "max_concurrent_trials is {}, and {} are running", *limit, placed())};
  }
  const std::vector<Offer> offers = fleet_.Offers();
  if (offers.empty()) return {"no executor has joined yet"};
  std::vector<std::string> lines = WhyNot(config_.executor.resources, offers);
  if (lines.empty() && most_gpus_) {
    lines.push_back(fmt::format("set gpus={}: no more GPUs may be used", *most_gpus_));
  }
  if (lines.empty()) lines.push_back("it starts with the next turn");
  return lines;
}

std::string Controller::WhatWaits() const {
  const bool more = more_proposals();
  if (pending_.empty() && !more && !scheduler_.NextPromotion(more)) return "";
  const std::vector<std::string> lines = WhyNothingStarts();
  std::string text = lines.front();
  if (lines.size() > 1) text += fmt::format(" (and {} more)", lines.size() - 1);
  return text;
}

void Controller::CheckInvariants() const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  };
  SweepCounts counted;
  for (const TrialRow& row : rows_) {
    require(pending_.contains(row.id) == (row.state == TrialState::kPending),
            "the queue holds exactly the pending trials");
    require(live_of_.contains(row.id) == (row.state == TrialState::kRunning),
            "exactly the running trials are live");
    counted.running += row.state == TrialState::kRunning;
    counted.pending += row.state == TrialState::kPending;
    counted.paused += row.state == TrialState::kPaused;
    counted.completed += row.state == TrialState::kCompleted;
    counted.stopped += row.state == TrialState::kStopped;
    counted.failed += row.state == TrialState::kFailed;
  }
  require(counted.running == counts_.running && counted.pending == counts_.pending &&
              counted.paused == counts_.paused &&
              counted.completed == counts_.completed &&
              counted.stopped == counts_.stopped && counted.failed == counts_.failed,
          "the counts are those of the rows");
  require(live_.size() == live_of_.size(), "one live run a trial");
  int64_t standing_by = 0, wanting = 0;
  for (const auto& [key, live] : live_) {
    standing_by += live.after.has_value();
    wanting += live.wanted.has_value();
    require(!live.after || live_.at(*live.after).heir == key, "who stands by is heir");
    require(!live.heir || live_.at(*live.heir).after == key, "an heir stands by");
  }
  require(standing_by == standing_by_ && wanting == wanting_,
          "the books of those that stand by");
  std::map<ExecutorId, Offer> used;
  for (const auto& [key, live] : live_) {
    require(Row(key.trial).attempt == key.attempt,
            "a live run is of the newest attempt");
    require(live_of_.at(key.trial) == key, "live runs are found by their trial");
    const Member* member = fleet_.Find(live.row.executor);
    if (member == nullptr) continue;
    require(member->runs.contains(key), "a live run is in its executor's book");
    if (live.placement && !live.after && member->present) {
      Offer& offer = used[member->id];
      offer.executor = member->id;
      offer.total = member->offer.total;
      offer.device_used.resize(member->offer.device_used.size());
      hyperopt::Take(*live.placement, &offer);
    }
  }
  for (const auto& [id, member] : fleet_.members()) {
    for (const RunKey& key : member.runs) {
      require(live_.contains(key), "an executor's book holds live runs only");
    }
    if (!member.present) continue;
    const Offer& offer = member.offer;
    require(offer.cpus_used <= offer.total.cpus, "no more CPUs than there are");
    require(offer.memory_used <= offer.total.memory, "no more memory than there is");
    const Offer& mine = used[id];
    require(offer.cpus_used == mine.cpus_used, "CPUs taken are those of the live runs");
    for (size_t i = 0; i < offer.device_used.size(); ++i) {
      require(offer.device_used[i] <= Share::Whole(1), "no device is oversubscribed");
      const Share of_runs = i < mine.device_used.size() ? mine.device_used[i] : Share();
      require(offer.device_used[i] == of_runs, "device shares are those of live runs");
    }
  }
  const auto limit = config_.executor.max_concurrent_trials;
  require(!limit || placed() <= std::max<int64_t>(*limit, over_limit_),
          "max_concurrent_trials is a gate");
}

}  // namespace hyperopt
