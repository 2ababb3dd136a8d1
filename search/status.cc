#include "search/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "samplers/sampler.h"
#include "search/format.h"
#include "search/live_settings.h"
#include "search/proposals.h"
#include "search/recorded_history.h"

namespace hyperopt {
namespace {

SweepCounts CountsOf(const std::map<TrialState, int64_t>& states) {
  const auto count = [&](TrialState state) {
    const auto found = states.find(state);
    return found == states.end() ? 0 : found->second;
  };
  SweepCounts counts;
  counts.pending = count(TrialState::kPending);
  counts.running = count(TrialState::kRunning);
  counts.paused = count(TrialState::kPaused);
  counts.completed = count(TrialState::kCompleted);
  counts.stopped = count(TrialState::kStopped);
  counts.failed = count(TrialState::kFailed);
  return counts;
}

void CountFleet(const Fleet& fleet, SweepStatus* status) {
  for (const auto& [id, member] : fleet.members()) {
    if (!member.present) continue;
    ++status->executors;
    status->devices += std::ssize(member.offer.total.devices);
    for (Share used : member.offer.device_used) status->devices_busy += used.AsDouble();
  }
}

std::optional<double> Eta(const SweepStatus& status,
                          const SearchConfig& config,
                          double session_s,
                          int64_t finished) {
  std::optional<double> eta;
  const int64_t left = status.counts.planned - status.counts.finished();
  // Nobody knows when a person, or a machine, lets the next trial start.
  const bool stands =
      status.state == "paused" || (status.counts.running == 0 && !status.waits.empty());
  if (finished > 0 && !stands) {
    eta = session_s * static_cast<double>(left) / static_cast<double>(finished);
  }
  if (config.executor.time_budget_s) {
    const double budget_left =
        std::max(0.0, *config.executor.time_budget_s - status.alive_s);
    eta = eta ? std::min(*eta, budget_left) : budget_left;
  }
  return eta;
}

std::string TimeText(const SweepStatus& status) {
  std::string text = DurationText(status.alive_s);
  const bool over = status.counts.finished() >= status.counts.planned;
  if (status.eta_s && !over) {
    text += fmt::format(", about {} left", DurationText(std::ceil(*status.eta_s)));
  }
  if (status.devices > 0) {
    text += fmt::format(
        ", GPUs {} of {} busy", NumberText(status.devices_busy), status.devices);
  }
  return text;
}

bool HasController(const SweepStatus& status) {
  return status.state == "running" || status.state == "stopping" ||
         status.state == "paused";
}

// `what` stands behind the number.
std::string RunningText(const SweepStatus& status, const char* what = "") {
  std::string text = fmt::format("{}{}", status.counts.running, what);
  if (status.max_concurrent)
    text += fmt::format(" of at most {}", *status.max_concurrent);
  if (status.counts.pending > 0)
    text += fmt::format(", {} pending", status.counts.pending);
  if (status.counts.paused > 0)
    text += fmt::format(", {} paused", status.counts.paused);
  return text;
}

std::string DoneText(const SweepStatus& status) {
  const std::string counts = CountsText(status.counts);
  return fmt::format("{} of {} done{}{}",
                     status.counts.finished(),
                     status.counts.planned,
                     counts.empty() ? "" : ": ",
                     counts);
}

template <typename T>
void Take(const OrderedJson& json, const char* key, T* value) {
  const auto at = json.find(key);
  if (at == json.end() || at->is_null()) return;
  try {
    *value = at->get<T>();
  } catch (const OrderedJson::type_error&) {
    // Of a newer controller: what it means is not known here.
  }
}

template <typename T>
void Take(const OrderedJson& json, const char* key, std::optional<T>* value) {
  T plain{};
  if (!json.contains(key) || json[key].is_null()) return;
  Take(json, key, &plain);
  *value = plain;
}

BestSoFar MeanOf(const Standing& standing, const TrialRow& row, ValueRule rule) {
  BestSoFar best = BestOf(row, rule);
  best.value = Objective::Of(standing.mean);
  best.repeats = std::ssize(standing.values);
  if (!std::isnan(standing.error)) best.error = standing.error;
  return best;
}

}  // namespace

const Objective& RankedValue(const TrialRow& row, ValueRule rule) {
  return rule == ValueRule::kBest ? row.best : row.last;
}

BestSoFar BestOf(const TrialRow& row, ValueRule rule) {
  return {row.id,
          RankedValue(row, rule),
          rule == ValueRule::kBest ? row.best_step : row.last_step};
}

const TrialRow* FindBest(const std::vector<TrialRow>& trials,
                         Goal goal,
                         ValueRule rule) {
  const TrialRow* best = nullptr;
  for (const TrialRow& row : trials) {
    if (row.state == TrialState::kFailed || !RankedValue(row, rule).finite()) continue;
    if (best == nullptr ||
        Better(goal, RankedValue(row, rule), RankedValue(*best, rule))) {
      best = &row;
    }
  }
  return best;
}

const TrialRow* FindBest(const std::vector<TrialRow>& trials,
                         const SearchConfig& config) {
  if (config.repeats == 1) return FindBest(trials, config.goal, config.value);
  const Race race = RaceOf(trials, config, TrialId(0));
  const Standing* leader = race.Leader();
  if (leader == nullptr) return nullptr;
  return &trials[static_cast<size_t>(leader->best->value())];
}

std::optional<BestSoFar> FindBestSoFar(const std::vector<TrialRow>& trials,
                                       const SearchConfig& config) {
  const TrialRow* row = FindBest(trials, config);
  if (row == nullptr) return std::nullopt;
  if (config.repeats == 1) return BestOf(*row, config.value);
  return MeanOf(RaceOf(trials, config, TrialId(0)).Of(row->id), *row, config.value);
}

BestSoFar BestOf(const Controller& controller) {
  const auto index = static_cast<size_t>(controller.incumbent()->value());
  const TrialRow& row = controller.trials()[index];
  const ValueRule rule = controller.config().value;
  const Standing* leader = controller.leader();
  return leader == nullptr ? BestOf(row, rule) : MeanOf(*leader, row, rule);
}

std::string StateWord(const SweepRow& sweep) {
  const bool paused = sweep.state == SweepState::kRunning &&
                      LiveSetting(sweep.settings, kLivePaused) == "true";
  return paused ? "paused" : std::string(ToString(sweep.state));
}

SweepStatus StatusOf(const Controller& controller,
                     double session_s,
                     int64_t finished_in_session,
                     Now now) {
  const SearchConfig& config = controller.config();
  SweepStatus status;
  status.name = controller.sweep().name;
  status.state = std::string(ToString(controller.sweep().state));
  if (controller.sweep().state == SweepState::kRunning && controller.stopping()) {
    status.state = "stopping";
  } else if (controller.sweep().state == SweepState::kRunning && controller.paused()) {
    status.state = "paused";
  }
  status.metric = controller.sweep().metric;
  status.goal = config.goal;
  status.counts = controller.Counts();
  status.max_concurrent = config.executor.max_concurrent_trials;
  if (controller.incumbent()) status.best = BestOf(controller);
  status.waits = controller.WhatWaits();
  status.alive_s = controller.alive_s(now);
  CountFleet(controller.fleet(), &status);
  status.eta_s = Eta(status, config, session_s, finished_in_session);
  return status;
}

SweepStatus StatusOf(const RecordSummary& record, const SearchConfig& config) {
  SweepStatus status;
  status.name = record.sweep.name;
  status.state = StateWord(record.sweep);
  status.metric = record.sweep.metric;
  status.goal = record.sweep.goal;
  status.counts = CountsOf(record.counts);
  SamplerOptions options = config.sampler;
  options.num_samples += record.sweep.extra_trials;
  const ProposalCursor cursor = CursorAfter(CurrentEra(record.sweep), record.proposed);
  const int64_t trials = status.counts.finished() + status.counts.pending +
                         status.counts.running + status.counts.paused;
  status.counts.planned =
      trials +
      cursor.Left(MakeSampler(config.space, options)->TrialCount().value_or(0));
  const bool more = status.counts.finished() < status.counts.planned;
  if (more && LiveSetting(record.sweep.settings, kLivePaused) == "true") {
    status.waits = "paused: nothing new starts until `hyperopt unpause`";
  }
  status.max_concurrent = config.executor.max_concurrent_trials;
  status.best = record.best;
  status.alive_s = record.sweep.alive_s;
  return status;
}

std::string CountsText(const SweepCounts& counts) {
  std::string text;
  const auto add = [&](int64_t count, const char* word) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  };
  add(counts.completed, "completed");
  add(counts.stopped, "stopped");
  add(counts.failed, "failed");
  return text;
}

std::string ValueText(const BestSoFar& best) {
  std::string text = NumberText(best.value);
  if (best.error) text += " +- " + NumberText(*best.error);
  return best.repeats > 0 ? fmt::format("{} of {}", text, best.repeats) : text;
}

std::string BestText(const SweepStatus& status) {
  if (!status.best) return fmt::format("no {} yet", status.metric);
  return fmt::format("{} {} (trial {}, step {})",
                     status.metric,
                     ValueText(*status.best),
                     status.best->trial.value(),
                     status.best->step);
}

std::vector<std::string> StatusBlock(const SweepStatus& status, size_t width) {
  std::vector<std::string> lines = {"best     " + BestText(status),
                                    "trials   " + DoneText(status)};
  if (HasController(status)) {
    lines.push_back("running  " + RunningText(status));
    if (status.state != "running") lines.back() += "; " + status.state;
  }
  if (!status.waits.empty()) lines.push_back("waits    " + status.waits);
  lines.push_back("time     " + TimeText(status));
  for (std::string& line : lines) line = Shortened(Printable(line), width);
  return lines;
}

std::string StatusLine(const SweepStatus& status) {
  std::string text = fmt::format("{}; {}; {}",
                                 DoneText(status),
                                 RunningText(status, " running"),
                                 BestText(status));
  if ((status.counts.running == 0 || status.state == "paused") &&
      !status.waits.empty()) {
    text += "; waits: " + status.waits;
  }
  return Printable(text + "; " + TimeText(status));
}

OrderedJson CountsToJson(const SweepCounts& counts) {
  return {{"planned", counts.planned},
          {"pending", counts.pending},
          {"running", counts.running},
          {"paused", counts.paused},
          {"completed", counts.completed},
          {"stopped", counts.stopped},
          {"failed", counts.failed}};
}

OrderedJson StatusToJson(const SweepStatus& status) {
  OrderedJson best;
  if (status.best) {
    best = {{"trial", status.best->trial.value()},
            {"value", NumberToJson(status.best->value.AsDouble())},
            {"step", status.best->step}};
    if (status.best->repeats > 0) {
      best["repeats"] = status.best->repeats;
      best["error"] =
          status.best->error ? NumberToJson(*status.best->error) : OrderedJson();
    }
  }
  const auto maybe = [](const auto& value) {
    return value ? OrderedJson(*value) : OrderedJson();
  };
  return {{"name", status.name},
          {"state", status.state},
          {"goal", ToString(status.goal)},
          {"metric", status.metric},
          {"counts", CountsToJson(status.counts)},
          {"max_concurrent_trials", maybe(status.max_concurrent)},
          {"best", best},
          {"waits", status.waits},
          {"alive_s", status.alive_s},
          {"eta_s", maybe(status.eta_s)},
          {"devices", status.devices},
          {"devices_busy", status.devices_busy},
          {"executors", status.executors}};
}

SweepStatus StatusFromJson(const OrderedJson& json) {
  SweepStatus status;
  Take(json, "name", &status.name);
  Take(json, "state", &status.state);
  Take(json, "metric", &status.metric);
  Take(json, "max_concurrent_trials", &status.max_concurrent);
  Take(json, "waits", &status.waits);
  Take(json, "alive_s", &status.alive_s);
  Take(json, "eta_s", &status.eta_s);
  Take(json, "devices", &status.devices);
  Take(json, "devices_busy", &status.devices_busy);
  Take(json, "executors", &status.executors);
  std::string goal;
  Take(json, "goal", &goal);
  if (goal == ToString(Goal::kMaximize)) status.goal = Goal::kMaximize;
  OrderedJson counts = OrderedJson::object();
  Take(json, "counts", &counts);
  Take(counts, "planned", &status.counts.planned);
  Take(counts, "pending", &status.counts.pending);
  Take(counts, "running", &status.counts.running);
  Take(counts, "paused", &status.counts.paused);
  Take(counts, "completed", &status.counts.completed);
  Take(counts, "stopped", &status.counts.stopped);
  Take(counts, "failed", &status.counts.failed);
  const auto best = json.find("best");
  if (best != json.end() && best->is_object()) {
    int64_t trial = 0;
    double value = 0;
    BestSoFar so_far;
    Take(*best, "trial", &trial);
    Take(*best, "value", &value);
    Take(*best, "step", &so_far.step);
    Take(*best, "repeats", &so_far.repeats);
    Take(*best, "error", &so_far.error);
    so_far.trial = TrialId(trial);
    so_far.value = Objective::Of(value);
    status.best = so_far;
  }
  return status;
}

}  // namespace hyperopt
