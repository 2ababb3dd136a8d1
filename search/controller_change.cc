// What a person changes of a sweep that lives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "search/controller.h"
#include "search/live_settings.h"
#include "search/more_samples.h"
#include "search/outcome.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr size_t kAnswersKept = 16;

std::string AnswerBefore(const Settings& settings, const std::string& token) {
  const std::string end = "." + token;
  for (const auto& [name, answer] : SettingsBelow(settings, kLiveAnswer)) {
    if (name.ends_with(end)) return answer;
  }
  return "";
}

// "trial 12", "trials 12 to 14": ids without gaps.
std::string TrialsText(TrialId first, size_t count) {
  if (count == 1) return fmt::format("trial {}", first.value());
  return fmt::format("trials {} to {}",
                     first.value(),
                     first.value() + static_cast<int64_t>(count) - 1);
}

// Which of several a note is about.
std::string NameOf(const AddTrials& add, size_t i, TrialId first) {
  if (!add.places.empty()) return add.places[i] + ": ";
  if (add.params.size() == 1) return "";
  return fmt::format("trial {}: ", first.value() + static_cast<int64_t>(i));
}

}  // namespace

std::string Controller::Change(const ChangeRequest& request, Now now) {
  if (std::string done = AnswerBefore(sweep_.settings, request.token); !done.empty()) {
    return done;
  }
  if (end_) throw ConfigError("the sweep is over, and its controller ends");
  const std::string answer =
      std::visit([&](const auto& what) { return Apply(what, now); }, request.what);
  Remember(request.token, answer);
  changes_.push_back(PutSweep{SweepNow(now)});
  return answer;
}

void Controller::Remember(const std::string& token, const std::string& answer) {
  const Settings kept = SettingsBelow(sweep_.settings, kLiveAnswer);
  if (kept.size() >= kAnswersKept) sweep_.settings.erase(kept.begin()->first);
  sweep_.settings[fmt::format("{}{:012}.{}", kLiveAnswer, sweep_.last_event, token)] =
      answer;
}

int64_t Controller::BeginEra(const std::vector<std::string>& lines, Now now) {
  std::string detail;
  for (const std::string& line : lines) {
    detail += (detail.empty() ? "" : ",") + QuoteJson(line);
  }
  Log("amended", std::nullopt, fmt::format("{{\"changed\":[{}]}}", detail), now);
  std::vector<TrialId> outside;
  for (const auto& [id, open] : open_) {
    if (IsFinished(Row(id).state) || LiesWithin(config_.space, open.params)) continue;
    outside.push_back(id);
  }
  for (TrialId id : outside) StopOne(id, now);
  return std::ssize(outside);
}

std::vector<RecordChange> Controller::ChangesAlone(SweepState state, Now now) {
  // Once there is something to do it is finished no more.
  const bool more = !pending_.empty() || std::ssize(rows_) < planned_ ||
                    scheduler_.NextPromotion(more_proposals()).has_value() ||
                    NextRepeat().has_value();
  if (state == SweepState::kFinished && more) state = SweepState::kInterrupted;
  sweep_.state = state;
  changes_.push_back(PutSweep{SweepNow(now)});
  std::vector<RecordChange> changes;
  CollectChanges(&changes);
  return changes;
}

// What keeps a trial that was added from starting, for the one who added it.
std::string Controller::StartsWhen() const {
  if (stop_) return "\nthe sweep is stopping: they start when it goes on";
  if (budget_over_) {
    return "\nthe time budget is used up: raise it with hyperopt set time_budget_s=...";
  }
  if (paused_) return "\nthe sweep is paused: they start after hyperopt unpause";
  return "";
}

std::string Controller::Apply(const AddTrials& add, Now now) {
  if (add.params.empty()) throw ConfigError("there is nothing to add");
  std::vector<std::string> notes;
  std::vector<Params> checked;
  const TrialId first(std::ssize(rows_));
  for (size_t i = 0; i < add.params.size(); ++i) {
    try {
      std::vector<std::string> own;
      checked.push_back(CheckGiven(config_.space, add.params[i], &own));
      for (const std::string& note : own) notes.push_back(NameOf(add, i, first) + note);
      const bool may_fail =
          config_.space.is_conditional() || !config_.space.constraints().empty();
      if (may_fail) {  // before anything is changed
        const TrialId id(std::ssize(rows_) + static_cast<int64_t>(i));
        FillGiven(config_.space, checked.back(), config_.sampler.seed, id);
      }
    } catch (const ConfigError& error) {
      if (!add.places.empty()) {
        throw ConfigError(
            fmt::format("{}: {}; none is added", add.places[i], error.what()));
      }
      if (add.params.size() == 1) throw;
      throw ConfigError(fmt::format(
          "the {}. of {}: {}; none is added", i + 1, add.params.size(), error.what()));
    }
  }
  for (Params& params : checked) AddGiven(std::move(params), now);
  std::string answer =
      fmt::format("added: {}{}", TrialsText(first, checked.size()), StartsWhen());
  for (const std::string& note : notes) answer += "\n" + note;
  return answer;
}

TrialId Controller::AddGiven(Params params, Now now) {
  const TrialId id(std::ssize(rows_));
  const size_t named = params.size();
  std::string open;
  for (const Parameter& parameter : config_.space.parameters()) {
    if (params.contains(parameter.name)) continue;
    open += (open.empty() ? "" : ",") + QuoteJson(parameter.name);
  }
  params = FillGiven(config_.space, std::move(params), config_.sampler.seed, id);
  TrialRow row;
  row.id = id;
  row.created = now.wall;
  row.history = kGivenByHand;
  AddRow(std::move(row));
  ++planned_;
  Log("added",
      id,
      fmt::format("{{\"given\":{},\"drawn\":{},\"open\":[{}]}}",
                  named,
                  params.size() - named,
                  open),
      now);
  changes_.push_back(PutParams{id, params});
  open_[id].params = std::move(params);
  NoteConfiguration(id);
  return id;
}

std::string Controller::Apply(const AddSamples& add, Now now) {
  if (add.samples < 1) throw ConfigError("--trials wants a number above 0");
  const int64_t before = planned_;
  const int64_t samples = config_.sampler.num_samples;
  // A plan that was made smaller than what is there begins there.
  const auto short_of = [&] {
    return sampler_->TrialCount().value_or(config_.sampler.num_samples) <
           cursor_.next();
  };
  try {
    for (int64_t next = samples; short_of() && next - samples < cursor_.next();) {
      UseSamples(++next);
    }
    UseSamples(SamplesAfter(config_.sampler, add.samples));
  } catch (const ConfigError&) {
    UseSamples(samples);  // what is refused changes nothing
    throw;
  }
  sweep_.extra_trials += config_.sampler.num_samples - samples;
  Log("samples added",
      std::nullopt,
      fmt::format("{{\"samples\":{}}}", add.samples),
      now);
  return fmt::format(
      "{} trials are planned, {} before{}", planned_, before, StartsWhen());
}

void Controller::UseSamples(int64_t num_samples) {
  SamplerOptions options = config_.sampler;
  options.num_samples = num_samples;
  std::unique_ptr<Sampler> sampler = MakeSampler(config_.space, options);
  config_.sampler = std::move(options);
  own_sampler_ = std::move(sampler);
  sampler_ = own_sampler_.get();
  sampler_exhausted_ = false;
  PlanAnew();
}

void Controller::PlanAnew() {
  const int64_t proposals =
      sampler_->TrialCount().value_or(config_.sampler.num_samples);
  planned_ = std::ssize(rows_) + cursor_.Left(proposals);
}

std::string Controller::Apply(const StopTrials& stop, Now now) {
  if (stop.trials.empty()) throw ConfigError("no trial is named");
  for (TrialId id : stop.trials) {
    if (id.value() >= 0 && id.value() < std::ssize(rows_)) continue;
    throw ConfigError(fmt::format("there is no trial {}: the sweep has {} so far{}",
                                  id.value(),
                                  rows_.size(),
                                  stop.trials.size() > 1 ? "; none is stopped" : ""));
  }
  std::vector<std::string> lines;
  for (TrialId id : stop.trials) lines.push_back(StopOne(id, now));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string Controller::StopOne(TrialId id, Now now) {
  TrialRow& row = Row(id);
  if (IsFinished(row.state)) return StateText(row) + ": nothing to stop";
  if (row.stopping == Reason::kRung) row.stopping.reset();  // it would wait, and end
  if (row.stopping) return fmt::format("trial {} is being stopped", id.value());
  if (const auto live = live_of_.find(id); live != live_of_.end()) {
    CommitStop(FindLive(live->second), Reason::kUser, now);
    return fmt::format("trial {} is told to stop, for good", id.value());
  }
  lost_.erase(id);
  const bool was_paused = row.state == TrialState::kPaused;
  Log("stop", id, fmt::format("{{\"reason\":\"{}\"}}", ToString(Reason::kUser)), now);
  Outcome outcome;
  outcome.state = TrialState::kStopped;
  outcome.reason = Reason::kUser;
  ApplyOutcome(&row, outcome, now);
  return was_paused
             ? fmt::format("trial {} is stopped, and goes on no more", id.value())
             : fmt::format("trial {} is stopped before it starts", id.value());
}

std::string Controller::Apply(const SetPaused& set, Now now) {
  if (set.paused == paused_) return set.paused ? "paused already" : "not paused";
  paused_ = set.paused;
  SetLive(kLivePaused, paused_ ? "true" : "", &sweep_.settings);
  Log(paused_ ? "paused" : "unpaused", std::nullopt, "", now);
  if (!paused_) return "going on: new trials start again";
  RecallAll();
  return fmt::format("paused: nothing new starts, {} running go on", placed());
}

std::string Controller::Apply(const SetLimits& set, Now now) {
  if (set.num_samples != config_.sampler.num_samples && set.samples_changed) {
    UseSamples(set.num_samples);
    sweep_.extra_trials = 0;
  }
  config_.executor = set.executor;
  most_gpus_ = set.gpus;
  over_limit_ = std::max(over_limit_, placed());
  RecallAll();
  const std::optional<double>& budget = config_.executor.time_budget_s;
  budget_over_ = budget_over_ && budget && alive_s(now) >= *budget;
  SetLive(kLiveSet, set.live_set, &sweep_.settings);
  SetLive(kLiveGpus, set.gpus ? std::to_string(*set.gpus) : "", &sweep_.settings);
  for (const auto& [id, member] : fleet_.members()) fleet_.Reopen(id);
  std::string detail;
  for (const std::string& line : set.lines) {
    detail += (detail.empty() ? "" : ",") + QuoteJson(line);
  }
  if (set.lines.empty()) return "nothing changes";
  Log("set", std::nullopt, fmt::format("{{\"changed\":[{}]}}", detail), now);
  std::string answer = fmt::format("{}", fmt::join(set.lines, "\n"));
  const auto limit = config_.executor.max_concurrent_trials;
  if (limit && placed() > *limit) {
    answer += fmt::format(
        "\n{} run; the next starts when fewer than {} are left", placed(), *limit);
  }
  return answer;
}

// Devices in use, and the idle ones that this placement would take.
bool Controller::OverGpus(const Placement& placement) const {
  int64_t used = 0, fresh = 0;
  for (const auto& [id, member] : fleet_.members()) {
    for (Share share : member.offer.device_used) used += share > Share();
  }
  const Member* member = fleet_.Find(placement.executor);
  std::set<int> counted;
  for (const Placement::Rank& rank : placement.ranks)
    counted.insert(rank.devices.begin(), rank.devices.end());
  for (int index : counted) {
    fresh += member->offer.device_used[static_cast<size_t>(index)] == Share();
  }
  return fresh > 0 && used + fresh > *most_gpus_;
}

}  // namespace hyperopt
