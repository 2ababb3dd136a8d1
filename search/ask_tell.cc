#include "search/ask_tell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "search/objectives.h"
#include "search/outcome.h"
#include "search/recorded_history.h"
#include "search/report_time.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// Python writes NaN and infinities as bare words; quoted they are JSON.
std::string QuoteNumbers(std::string_view line) {
  std::string text;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (in_string && line[i] == '\\' && i + 1 < line.size()) {
      text += line[i++];
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      const auto words = {"NaN", "-Infinity", "Infinity"};
      const auto found = std::ranges::find_if(words, [&](std::string_view word) {
        return line.substr(i).starts_with(word);
      });
      if (found != words.end()) {
        text += '"' + std::string(*found) + '"';
        i += std::string_view(*found).size() - 1;
        continue;
      }
    }
    text += line[i];
  }
  return text;
}

Objective ValueOf(const OrderedJson& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return Objective::Of(value.get<double>());
  if (value == "NaN") return Objective::Of(std::numeric_limits<double>::quiet_NaN());
  if (value == "Infinity") return Objective::Of(kInfinity);
  if (value == "-Infinity") return Objective::Of(-kInfinity);
  throw ConfigError(
      fmt::format("value is {}; it must be a number, or \"NaN\", \"Infinity\" or "
                  "\"-Infinity\"",
                  DumpJson(value)));
}

int64_t StepOf(const OrderedJson& request) {
  const auto found = request.find("step");
  if (found == request.end() || !found->is_number_integer() || *found < 0) {
    throw ConfigError("report wants a \"step\": the units done, a whole number from 1");
  }
  return found->get<int64_t>();
}

bool Flag(const OrderedJson& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return false;
  if (!found->is_boolean()) {
    throw ConfigError(fmt::format("{} must be true or false", key));
  }
  return found->get<bool>();
}

}  // namespace

AskTell::AskTell(const SearchConfig& config, TrialStore* store, RecordSnapshot record)
    : config_(config),
      sampler_(MakeSampler(config.space, config.sampler)),
      scheduler_(MakeScheduler(config.scheduler, config.goal, config.sampler.seed)),
      store_(store),
      sweep_(std::move(record.sweep)),
      rows_(std::move(record.trials)) {
  if (config_.scheduler.kind == SchedulerKind::kPbt) {
    throw ConfigError(
        "ask-tell: pbt copies checkpoints, which the program here keeps for itself; "
        "use "
        "asha, mode promotion or stopping");
  }
  proposed_ = std::ranges::count_if(
      rows_, [](const TrialRow& row) { return !row.parent.has_value(); });
  RestoreRepeats();
  scheduler_->Restore(record.rungs);
  for (const TrialRow& row : rows_) {
    if (row.state == TrialState::kPaused) scheduler_->OnPaused(row.id);
    if (IsFinished(row.state)) scheduler_->OnEnded(row.id);
  }
  if (store_ == nullptr) return;
  RestoreCurves();
  history_.ended = EndedHistory(*store_, rows_, config_);
  std::vector<TrialId> ids;
  for (const TrialRow& row : rows_) {
    if (!IsFinished(row.state)) ids.push_back(row.id);
  }
  const std::vector<Params> params = store_->LoadParams(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    RestoreOpen(rows_[static_cast<size_t>(ids[i].value())], params[i]);
  }
}

std::string AskTell::Answer(std::string_view line, Now now) {
  try {
    OrderedJson request = ParseJson(QuoteNumbers(line));
    if (!request.is_object()) throw ConfigError("a request is a JSON object");
    return DumpJson(Handle(request, now));
  } catch (const ConfigError& error) {
    return DumpJson(OrderedJson{{"error", error.what()}});
  }
}

void AskTell::Close(Now) {
  const bool all = exhausted_ || proposed_ >= config_.sampler.num_samples;
  const bool due = race_ && race_->Next(false);
  const bool done = open_.empty() && all && !due;
  sweep_.state = done ? SweepState::kFinished : SweepState::kInterrupted;
  changes_.push_back(PutSweep{sweep_});
  Commit();
}

OrderedJson AskTell::Handle(const OrderedJson& request, Now now) {
  const auto op = request.find("op");
  if (op != request.end() && *op == "ask") return Ask(now);
  if (op != request.end() && *op == "tell") return Tell(request, now);
  if (op != request.end() && *op == "report") return Report(request, now);
  throw ConfigError("\"op\" must be \"ask\", \"tell\" or \"report\"");
}

OrderedJson AskTell::Handed(TrialId id) const {
  OrderedJson json = {{"trial", id.value()},
                      {"params", ParamsToJson(open_.at(id).params)}};
  const TrialRow& row = rows_[static_cast<size_t>(id.value())];
  if (const auto budget = scheduler_->Budget(id)) json["budget"] = *budget;
  if (row.attempt.value() > 1) json["step"] = row.last_step;
  if (race_) {
    json["repeat"] = race_->RepeatOf(id);
    json["seed"] = SeedOfTrial(config_.sampler.seed, id);
  }
  return json;
}

const History& AskTell::HistoryNow() {
  history_.pending.clear();
  for (const auto& [id, open] : open_) {
    const TrialRow& row = rows_[static_cast<size_t>(id.value())];
    // What has rested before is known already.
    if (row.state == TrialState::kPaused || row.attempt.value() > 1) continue;
    if (IsKnownAlready(id)) continue;
    history_.pending.push_back({id, row.state, open.params, row.best, row.best_step});
  }
  return history_;
}

OrderedJson AskTell::Ask(Now now) {
  if (!to_hand_out_.empty()) {
    const TrialId id = *to_hand_out_.begin();
    to_hand_out_.erase(to_hand_out_.begin());
    return Handed(id);
  }
  if (const auto next = scheduler_->NextPromotion(true)) {
    return GoOn(*next, true, now);
  }
  if (auto repeat = NextRepeat(true, now)) return *std::move(repeat);
  const TrialId id(std::ssize(rows_));
  std::optional<Params> params = sampler_->Suggest(TrialId(proposed_), HistoryNow());
  exhausted_ = !params.has_value();
  if (exhausted_) return NothingLeft(now);
  TrialRow row;
  row.id = id;
  row.state = TrialState::kRunning;
  row.attempt = Attempt(1);
  row.created = now.wall;
  row.started = now.wall;
  row.history = sweep_.last_event;
  RunRow run;
  run.key = {id, RunId(0), row.attempt};
  run.started = now.wall;
  changes_ = {PutTrial{row}, PutParams{id, *params}, PutRun{run}};
  Commit();
  rows_.push_back(row);
  open_[id].params = std::move(*params);
  ++proposed_;
  NoteCreated(row);
  return Handed(id);
}

TrialRow& AskTell::OpenTrial(const OrderedJson& request) {
  const auto found = request.find("trial");
  if (found == request.end() || !found->is_number_integer()) {
    throw ConfigError("\"trial\" must be the number that ask gave");
  }
  const auto number = found->get<int64_t>();
  if (number < 0 || number >= std::ssize(rows_)) {
    throw ConfigError(fmt::format("trial {} was never asked for", number));
  }
  TrialRow& row = rows_[static_cast<size_t>(number)];
  if (IsFinished(row.state)) {
    throw ConfigError(
        fmt::format("trial {} has ended ({})", number, ToString(row.state)));
  }
  return row;
}

void AskTell::AddValue(
    TrialRow* row, int64_t step, const Objective& value, std::string fields, Now now) {
  ReportRow report;
  report.key = {row->id, RunId(0), row->attempt};
  report.offset = ++row->reports;
  report.step = step;
  report.objective = value;
  report.values = std::move(fields);
  report.wall = now.wall;
  report.elapsed_s = now.wall - row->started;
  TakeOthers(report.values, config_, &open_[row->id].others);
  changes_.push_back(AddReport{report});
  row->last = value;
  row->last_step = step;
  if (row->best.missing() || Better(config_.goal, value, row->best)) {
    row->best = value;
    row->best_step = step;
  }
}

void AskTell::Judge(TrialRow* row, int64_t time, const Objective& value) {
  if (row->stopping) {
    scheduler_->Observe(row->id, time, value);
    return;
  }
  const Verdict verdict = scheduler_->OnMeasurement(row->id, time, value);
  for (const RungRow& entry : verdict.entries) changes_.push_back(PutRung{entry});
  const std::optional<int64_t> max_time = scheduler_->max_time();
  if (max_time && time >= *max_time) {
    row->stopping = Reason::kMaxTime;
  } else {
    row->stopping = ReasonOf(verdict.decision);
  }
}

// As the record's replay finds it.
int64_t AskTell::TimeOf(const TrialRow& row, const std::string& fields, Now now) const {
  const std::string& attr = config_.scheduler.time_attr;
  if (attr == "training_iteration") {
    return open_.at(row.id).iterations + (row.last_step > 0 ? 1 : 0);
  }
  if (attr == "step") return row.last_step;
  if (const std::optional<double> told = FieldOf(fields, attr)) return WholeTime(*told);
  return attr == "time_total_s" ? WholeTime(now.wall - row.started) : -1;
}

OrderedJson AskTell::Report(const OrderedJson& request, Now now) {
  TrialRow& kept = OpenTrial(request);
  if (kept.state == TrialState::kPaused) {
    throw ConfigError(
        fmt::format("trial {} waits at its rung; ask hands it out again if it goes on",
                    kept.id.value()));
  }
  TrialRow row = kept;
  const int64_t step = StepOf(request);
  const auto value_at = request.find("value");
  if (value_at == request.end()) throw ConfigError("report wants a \"value\"");
  const Objective value = ValueOf(*value_at);
  if (row.reports > 0 && step <= row.last_step) {
    throw ConfigError(
        fmt::format("step {} is not past the last one, {}", step, row.last_step));
  }
  OrderedJson fields = request;
  for (const char* key : {"op", "trial", "step", "value"}) fields.erase(key);
  fields[config_.metric_field()] = *value_at;
  AddValue(&row, step, value, DumpJson(fields), now);
  const int64_t time = TimeOf(row, DumpJson(fields), now);
  Open& open = open_[row.id];
  if (time > open.judged_time) {
    Judge(&row, time, value);
    open.judged_time = time;
  }
  const bool stop = row.stopping.has_value();
  const bool rests = row.stopping == Reason::kRung;
  if (rests) Rest(&row, now);
  changes_.push_back(PutTrial{row});
  Commit();
  kept = row;
  open.iterations += step > 0 ? 1 : 0;
  OrderedJson answer = {{"ok", true}, {"stop", stop}};
  if (!rests) return answer;
  scheduler_->OnPaused(row.id);
  HistoryEntry rest = RestOf(row, open.params, config_.value);
  rest.others = open.others;
  PutNewest(std::move(rest), &history_.ended);
  answer["paused"] = true;
  return answer;
}

OrderedJson AskTell::Tell(const OrderedJson& request, Now now) {
  TrialRow& kept = OpenTrial(request);
  if (kept.state == TrialState::kPaused) return TellResting(&kept, request, now);
  TrialRow row = kept;
  const auto value_at = request.find("value");
  const bool has_value = value_at != request.end() && !value_at->is_null();
  const auto state_at = request.find("state");
  if (state_at != request.end() && *state_at != "failed" && *state_at != "completed") {
    throw ConfigError("\"state\" must be \"failed\" or \"completed\"");
  }
  const bool failed = state_at != request.end() && *state_at == "failed";
  const bool stopped = Flag(request, "stopped");
  if (!has_value && !failed && row.reports == 0) {
    throw ConfigError("tell wants a \"value\" or \"state\":\"failed\"");
  }
  if (has_value) {
    const Objective value = ValueOf(*value_at);
    // What the last report said already is no other value.
    if (row.reports == 0 || value != row.last) {
      OrderedJson fields = request;
      for (const char* key : {"op", "trial", "value", "state", "stopped"}) {
        fields.erase(key);
      }
      fields[config_.metric_field()] = *value_at;
      AddValue(&row, row.last_step + 1, value, DumpJson(fields), now);
      scheduler_->Observe(row.id, TimeOf(row, DumpJson(fields), now), value);
    }
  }
  const bool pruned = row.stopping == Reason::kPruned;
  if (failed) {
    row.detail = "told to have failed";
    End(&row, TrialState::kFailed, Reason::kExitCode, now);
  } else if (!row.best.finite()) {
    End(&row, TrialState::kFailed, Reason::kNotFinite, now);
  } else if (auto lacking = LackingObjective(open_[row.id].others, config_)) {
    row.detail = *std::move(lacking);
    End(&row, TrialState::kFailed, Reason::kNoMetric, now);
  } else if (pruned || (stopped && !row.stopping)) {
    End(&row, TrialState::kStopped, pruned ? Reason::kPruned : Reason::kUser, now);
  } else {
    End(&row, TrialState::kCompleted, row.stopping.value_or(Reason::kNone), now);
  }
  changes_.push_back(PutTrial{row});
  Commit();
  kept = row;
  AddToHistory(row);
  open_.erase(row.id);
  to_hand_out_.erase(row.id);
  return {{"ok", true}};
}

void AskTell::End(TrialRow* row, TrialState state, Reason reason, Now now) {
  row->state = state;
  row->reason = reason;
  if (IsFinished(state)) row->ended = now.wall;
  row->elapsed_s = now.wall - row->started;
  row->stopping.reset();
  if (state == TrialState::kFailed) {
    ++row->failures;
    for (const RungRow& entry : scheduler_->OnFailed(row->id)) {
      changes_.push_back(PutRung{entry});
    }
  }
  RunRow run;
  run.key = {row->id, RunId(0), row->attempt};
  run.started = row->started;
  run.ended = now.wall;
  run.outcome = state == TrialState::kStopped ? "stopped" : "exit";
  if (row->attempt.value() > 1) run.resume_from = open_.at(row->id).began;
  changes_.push_back(PutRun{run});
  Log("ended",
      row->id,
      fmt::format("{{\"attempt\":{},\"state\":\"{}\",\"reason\":\"{}\"}}",
                  row->attempt.value(),
                  ToString(state),
                  ToString(reason)),
      now);
}

void AskTell::Log(std::string kind, TrialId trial, std::string detail, Now now) {
  EventRow event;
  event.number = ++sweep_.last_event;
  event.wall = now.wall;
  event.kind = std::move(kind);
  event.trial = trial;
  event.detail = std::move(detail);
  changes_.push_back(AddEvent{std::move(event)});
}

void AskTell::Commit() {
  if (store_ != nullptr) store_->Commit(changes_);
  changes_.clear();
}

}  // namespace hyperopt
