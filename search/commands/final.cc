#include "search/commands/final.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

#include "search/change_request.h"
#include "search/commands/sweep_dir.h"
#include "search/format.h"
#include "search/live_settings.h"
#include "search/recorded_history.h"
#include "search/run.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/rng.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Of each condition the values that its parent still has.
void KeepPossible(std::vector<Parameter>* parameters) {
  for (Parameter& parameter : *parameters) {
    for (Condition& condition : parameter.when) {
      const auto parent =
          std::ranges::find(*parameters, condition.parent, &Parameter::name);
      std::erase_if(condition.values, [&](const ParamValue& value) {
        return parent == parameters->end() || !ToUnit(parent->domain, value);
      });
    }
    std::erase_if(parameter.when, [](const Condition& c) { return c.values.empty(); });
  }
}

// One value each of what the finalists have: whatever was run is in such a space.
SearchSpace SpaceOf(const SearchSpace& space, std::span<const Finalist> finalists) {
  std::vector<Parameter> parameters;
  for (const Parameter& parameter : space.parameters()) {
    CategoricalDomain domain;
    for (const Finalist& finalist : finalists) {
      const auto value = finalist.params.find(parameter.name);
      if (value == finalist.params.end()) continue;
      if (std::ranges::find(domain.values, value->second) == domain.values.end()) {
        domain.values.push_back(value->second);
      }
    }
    if (domain.values.empty()) continue;  // it takes part in none of them
    parameters.push_back({parameter.name, std::move(domain), parameter.when});
  }
  KeepPossible(&parameters);
  return SearchSpace(std::move(parameters));
}

// Without early stopping; max_t still ends a trial that would run for ever.
SchedulerOptions ToTheEnd(const SchedulerOptions& of_sweep) {
  SchedulerOptions options;
  const std::optional<int64_t> max_t = MaxTime(of_sweep);
  if (!max_t) return options;
  options.kind = SchedulerKind::kAsha;
  options.time_attr = of_sweep.time_attr;
  options.max_t = options.grace_period = *max_t;
  return options;
}

// Whether one of them sets `name`, the part of it or what is above it.
bool Sets(const std::vector<Override>& overrides, std::string_view name) {
  const auto within = [](std::string_view inner, std::string_view outer) {
    return inner.starts_with(outer) &&
           (inner.size() == outer.size() || inner[outer.size()] == '.');
  };
  return std::ranges::any_of(overrides, [&](const Override& each) {
    return within(each.key, name) || within(name, each.key);
  });
}

void RefuseWhatIsFixed(const std::vector<Override>& overrides) {
  constexpr std::pair<const char*, const char*> kFixed[] = {
      {"hyperopt.goal", "it ranks the trials of the sweep, as the sweep did"},
      {"hyperopt.metric", "it ranks the trials of the sweep, as the sweep did"},
      {"hyperopt.output_feature", "it ranks the trials of the sweep, as the sweep did"},
      {"hyperopt.split", "it ranks the trials of the sweep, as the sweep did"},
      {"hyperopt.parameters", "the settings that run are those of the best trials"},
      {"hyperopt.search_alg", "the settings that run are those of the best trials"},
      {"hyperopt.executor.scheduler", "nothing is stopped early"},
      {"hyperopt.executor.num_samples",
       "--top and --seeds say how many runs there are"},
      {"hyperopt.executor.time_budget_s", "all runs go to their end"},
  };
  for (const Override& each : overrides) {
    for (const auto& [name, why] : kFixed) {
      if (!Sets({each}, name)) continue;
      throw ConfigError(
          fmt::format("--set {}: final fixes {}: {}", each.key, name, why));
    }
  }
}

std::string ParamsText(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, ValueText(value));
  }
  return text;
}

// The same runs go on; other ones begin anew beside the old.
OldRecord WhatToDo(const fs::path& dir, const SearchConfig& config) {
  if (!fs::exists(dir / "sweep.db")) return OldRecord::kResume;
  Settings old = ReadSweep(dir).record.sweep.settings;
  std::erase_if(old, [](const auto& each) { return each.first.starts_with(kLive); });
  return old == ComparedSettings(config) ? OldRecord::kResume : OldRecord::kStartOver;
}

// The sweep's trials ran from there, wherever this is typed.
void EnterFolderOf(const SweepRow& sweep) {
  const auto cwd = sweep.origin.find("cwd");
  if (cwd == sweep.origin.end()) return;
  std::error_code error;
  fs::current_path(cwd->second, error);
  if (!error) return;
  throw EnvironmentError(
      fmt::format("the folder that the sweep was started in can not be entered: {}: {}",
                  cwd->second,
                  error.message()));
}

void Print(const RecordedSweep& sweep, std::span<const FinalResult> results) {
  std::printf("\n%s, %s, mean and standard deviation:\n",
              Printable(sweep.record.sweep.metric).c_str(),
              std::string(ToString(sweep.record.sweep.goal)).c_str());
  for (const FinalResult& result : results) {
    std::string line = fmt::format("  trial {:<4} {} +- {}  of {} runs",
                                   result.finalist.trial.value(),
                                   NumberText(result.mean),
                                   NumberText(result.deviation),
                                   result.values.size());
    if (result.missing > 0) line += fmt::format(", {} without a value", result.missing);
    line += fmt::format("  (the sweep saw {})", NumberText(result.finalist.value));
    std::printf("%s\n", line.c_str());
  }
}

std::vector<Finalist> BestConfigurations(const RecordedSweep& sweep, int64_t top) {
  const Race race = RaceOf(sweep.record.trials, sweep.config, TrialId(0));
  std::vector<Finalist> finalists;
  std::set<Params> seen;
  for (const Standing* standing : race.Ranked()) {
    if (std::ssize(finalists) == top) break;
    if (!standing->best) continue;
    const TrialId id[] = {*standing->best};
    Params params = sweep.store->LoadParams(id).front();
    if (!NamesAll(sweep.config.space, params) || !seen.insert(params).second) continue;
    finalists.push_back(
        {*standing->best, Objective::Of(standing->mean), std::move(params)});
  }
  return finalists;
}

}  // namespace

std::vector<Finalist> FindFinalists(const RecordedSweep& sweep, int64_t top) {
  const ValueRule rule = sweep.config.value;
  std::vector<const TrialRow*> rows;
  for (const TrialRow& row : sweep.record.trials) {
    if (row.state == TrialState::kFailed || !RankedValue(row, rule).finite()) continue;
    rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, [&](const TrialRow* a, const TrialRow* b) {
    return Better(
        sweep.record.sweep.goal, RankedValue(*a, rule), RankedValue(*b, rule));
  });
  if (sweep.config.repeats > 1) return BestConfigurations(sweep, top);
  std::vector<Finalist> finalists;
  std::set<Params> seen;
  for (const TrialRow* row : rows) {
    if (std::ssize(finalists) == top) break;
    const TrialId id[] = {row->id};
    Params params = sweep.store->LoadParams(id).front();
    // One of an earlier era may lack what the search has now.
    if (!NamesAll(sweep.config.space, params) || !seen.insert(params).second) continue;
    finalists.push_back({row->id, RankedValue(*row, rule), std::move(params)});
  }
  return finalists;
}

SearchConfig FinalConfig(const RecordedSweep& sweep,
                         std::span<const Finalist> finalists,
                         int64_t seeds,
                         const std::vector<Override>& overrides) {
  RefuseWhatIsFixed(overrides);
  const SweepRow& row = sweep.record.sweep;
  const auto cwd = row.origin.find("cwd");
  SearchConfig config = ParseConfig(row.resolved,
                                    "the record",
                                    cwd == row.origin.end() ? "." : cwd->second,
                                    overrides);
  config.text = row.config;
  if (const auto file = row.origin.find("config_file"); file != row.origin.end()) {
    config.file = file->second;
  }
  config.notes.clear();
  config.inputs.clear();
  config.name += "-final";
  config.space = SpaceOf(sweep.config.space, finalists);
  config.scheduler = ToTheEnd(config.scheduler);
  config.repeats = 1;
  config.executor.time_budget_s.reset();
  if (!Sets(overrides, "hyperopt.executor.max_concurrent_trials")) {
    config.executor.max_concurrent_trials = sweep.config.executor.max_concurrent_trials;
  }
  SamplerOptions list;
  list.kind = SamplerKind::kList;
  // Other seeds than any trial of the sweep has.
  list.seed = Rng(sweep.config.sampler.seed, TrialId(0), "final").Next() >> 33;
  for (const Finalist& finalist : finalists) {
    for (int64_t i = 0; i < seeds; ++i) list.rows.push_back(finalist.params);
  }
  list.num_samples = config.executor.num_samples = std::ssize(list.rows);
  config.sampler = std::move(list);
  return config;
}

std::vector<FinalResult> FinalResults(const RecordedSweep& final_sweep,
                                      std::span<const Finalist> finalists,
                                      int64_t seeds) {
  std::vector<FinalResult> results;
  for (size_t i = 0; i < finalists.size(); ++i) {
    FinalResult result;
    result.finalist = finalists[i];
    const size_t first = i * static_cast<size_t>(seeds);
    const size_t end = first + static_cast<size_t>(seeds);
    for (size_t id = first; id < end && id < final_sweep.record.trials.size(); ++id) {
      const TrialRow& row = final_sweep.record.trials[id];
      const Objective& value = RankedValue(row, final_sweep.config.value);
      const bool counts = row.state != TrialState::kFailed && value.finite();
      if (counts) result.values.push_back(value.AsDouble());
      result.runs.push_back(row.id);
    }
    const auto count = static_cast<double>(result.values.size());
    result.missing = seeds - std::ssize(result.values);
    double sum = 0, squares = 0;
    for (double value : result.values) sum += value;
    result.mean = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
    for (double value : result.values)
      squares += (value - result.mean) * (value - result.mean);
    result.deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    results.push_back(std::move(result));
  }
  const Goal goal = final_sweep.record.sweep.goal;
  std::ranges::stable_sort(results, [&](const FinalResult& a, const FinalResult& b) {
    if (a.missing != b.missing) return a.missing < b.missing;
    return Better(goal, Objective::Of(a.mean), Objective::Of(b.mean));
  });
  return results;
}

int FinalCommand(const FinalOptions& options) {
  const fs::path dir = fs::absolute(SweepDirOf(options.dir));
  const RecordedSweep sweep = ReadSweep(dir);
  if (options.top < 1 || options.seeds < 1) {
    throw ConfigError("--top and --seeds must be 1 or more");
  }
  const std::vector<Finalist> finalists = FindFinalists(sweep, options.top);
  if (finalists.empty()) {
    std::printf("%s: no trial has a finite %s yet\n",
                dir.c_str(),
                Printable(sweep.record.sweep.metric).c_str());
    return static_cast<int>(ExitCode::kNoTrialCompleted);
  }
  ConfigOptions changes;
  changes.set = options.set;
  RunOptions run;
  run.config = FinalConfig(sweep, finalists, options.seeds, OverridesOf(changes));
  run.dir = fs::absolute(dir) / "final";
  EnterFolderOf(sweep.record.sweep);
  run.old = WhatToDo(run.dir, run.config);
  run.code_of = SnapshotSource{dir, sweep.record.sweep.origin};
  ApplyStart(options.start, &run);
  const int code = RunSweep(std::move(run));
  if (code != 0) return code;
  const RecordedSweep final_sweep = ReadSweep(dir / "final");
  const auto results = FinalResults(final_sweep, finalists, options.seeds);
  const fs::path best = WriteWinner(sweep, final_sweep, results);
  if (options.start.json) return 0;
  Print(sweep, results);
  const FinalResult& winner = results.front();
  std::printf("winner: trial %lld  %s\n  %s\n",
              static_cast<long long>(winner.finalist.trial.value()),
              Printable(ParamsText(winner.finalist.params)).c_str(),
              best.c_str());
  return 0;
}

}  // namespace hyperopt
