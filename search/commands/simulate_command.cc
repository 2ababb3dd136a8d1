#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "search/commands/recorded_sweep.h"
#include "search/commands/simulate.h"
#include "search/commands/simulate_config.h"
#include "search/commands/simulate_sampler.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/text_width.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/replay.h"
#include "search/schedule_text.h"
#include "search/simulate.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr size_t kNamed = 20;

// One that waited when its sweep was over could have gone on.
bool IsCutShort(const TrialRow& row) {
  if (row.detail.starts_with("as it stood at step ")) return true;
  if (row.state == TrialState::kCompleted) return Completes(row.reason);
  return row.state != TrialState::kFailed;
}

std::vector<KnownCurve> CurvesOf(const RecordedSweep& sweep,
                                 const SearchConfig& config) {
  std::vector<KnownCurve> curves;
  for (const TrialRow& row : sweep.record.trials) {
    if (row.attempt.value() == 0) continue;  // never ran
    curves.push_back({row.id, {}, row.state == TrialState::kFailed, IsCutShort(row)});
  }
  std::map<TrialId, KnownCurve*> curve_of;
  for (KnownCurve& curve : curves) curve_of[curve.trial] = &curve;
  size_t reports = 0, timed = 0;
  for (const JudgedReport& report : ReplayRecord(*sweep.store, config)) {
    ++reports;
    if (report.time >= 0) ++timed;
    curve_of.at(report.trial)
        ->points.push_back({report.time, report.elapsed_s, report.value});
  }
  if (reports == 0) {
    throw ConfigError(sweep.dir.string() +
                      ": no trial has reported, so that there is no curve to replay");
  }
  if (timed == 0) {
    throw ConfigError(fmt::format(
        "{}: no report says {}, which the scheduler goes by; name another time_attr "
        "(training_iteration counts reports)",
        sweep.dir.string(),
        config.scheduler.time_attr));
  }
  return curves;
}

// How many trials ran at once at most, by their first start and their end.
int64_t MostAtOnce(const std::vector<TrialRow>& rows) {
  std::vector<std::pair<double, int>> changes;
  for (const TrialRow& row : rows) {
    if (row.started <= 0 || row.ended <= row.started) continue;
    changes.emplace_back(row.started, 1);
    changes.emplace_back(row.ended, -1);
  }
  std::sort(changes.begin(), changes.end());
  int64_t running = 0, most = 1;
  for (const auto& [when, change] : changes) {
    running += change;
    most = std::max(most, running);
  }
  return most;
}

std::string IdsText(const std::vector<TrialId>& ids) {
  std::vector<int64_t> shown;
  for (const TrialId id : ids) {
    if (shown.size() < kNamed) shown.push_back(id.value());
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (ids.size() > kNamed) text += fmt::format(" and {} more", ids.size() - kNamed);
  return text;
}

std::string BestText(const SimulatedSweep& sweep) {
  if (!sweep.best) return "-";
  return fmt::format("{} (trial {})", NumberText(sweep.value), sweep.best->value());
}

void Print(const std::string& text) {
  std::printf("%s\n", Wrapped(Printable(text), TextWidth(), 2).c_str());
}

struct Comparison {
  SearchConfig config;  // with the simulated scheduler
  int64_t concurrency = 1;
  size_t trials = 0;
  SimulatedSweep was, would;
};

void PrintTable(const Comparison& all) {
  Table table({{""},
               {"as recorded", Table::Align::kRight},
               {"simulated", Table::Align::kRight},
               {"", Table::Align::kRight}});
  const auto change = [](double was, double would) -> std::string {
    return was > 0 ? fmt::format("{:+.0f} %", 100 * (would - was) / was) : "";
  };
  const auto count = [&](const std::string& name, int64_t was, int64_t would) {
    table.AddRow({name,
                  std::to_string(was),
                  std::to_string(would),
                  change(static_cast<double>(was), static_cast<double>(would))});
  };
  const auto seconds = [&](const std::string& name, double was, double would) {
    if (was <= 0) return;
    table.AddRow({name, DurationText(was), DurationText(would), change(was, would)});
  };
  const SimulatedSweep& was = all.was;
  const SimulatedSweep& would = all.would;
  count("reports", was.reports, would.reports);
  count(fmt::format("{}, all trials", all.config.scheduler.time_attr),
        was.time,
        would.time);
  seconds("time, all trials", was.trial_s, would.trial_s);
  if (was.trial_s > 0) {
    seconds(fmt::format("from start to end, {} at once", all.concurrency),
            was.wall_s,
            would.wall_s);
  }
  table.AddRow({fmt::format("best {}", all.config.metric_field()),
                BestText(was),
                BestText(would),
                ""});
  std::printf("%s", table.ToText(TextWidth()).c_str());
}

void PrintText(const Comparison& all) {
  for (const auto& [name, text] : ScheduleLines(all.config.scheduler)) {
    Print(fmt::format("{:<10}  {}", name, text));
  }
  std::printf("\n");
  PrintTable(all);
  std::printf("\n");
  Print(fmt::format("{} of {} trials end before their recorded end.",
                    all.would.ended_early,
                    all.trials));
  if (all.would.beyond.empty()) return;
  Print(fmt::format(
      "{} of them would have gone on where their record is cut short, and end there "
      "here; what they would have come to is not known: {}",
      all.would.beyond.size(),
      IdsText(all.would.beyond)));
}

OrderedJson ToJson(const SimulatedSweep& sweep) {
  OrderedJson beyond = OrderedJson::array();
  for (const TrialId id : sweep.beyond) beyond.push_back(id.value());
  OrderedJson json = {{"reports", sweep.reports},
                      {"time", sweep.time},
                      {"trial_s", sweep.trial_s},
                      {"wall_s", sweep.wall_s},
                      {"ended_early", sweep.ended_early},
                      {"best", nullptr},
                      {"value", nullptr},
                      {"cut_short", beyond}};
  if (sweep.best) {
    json["best"] = sweep.best->value();
    json["value"] = sweep.value.value;
  }
  return json;
}

// The sampler's own run through the table, under the scheduler that is asked for.
int SimulateSampler(const RecordedSweep& sweep,
                    const std::vector<KnownCurve>& curves,
                    const SimulateOptions& options,
                    Comparison all) {
  SearchConfig config =
      ConfigInstead(sweep, "--sampler", "hyperopt.search_alg", *options.sampler);
  config.scheduler = options.scheduler ? all.config.scheduler : SchedulerOptions{};
  const SampledTable table =
      SampleTable(sweep, curves, config, all.concurrency, options.seeds);
  if (options.json) {
    std::printf("%s\n", DumpJson(SampledTableToJson(table, config)).c_str());
    return 0;
  }
  if (options.scheduler) {
    for (const auto& [name, text] : ScheduleLines(config.scheduler)) {
      Print(fmt::format("{:<10}  {}", name, text));
    }
    Print(fmt::format("costs       {:.0f} reports, {:.0f} of {} in all",
                      table.reports,
                      table.time,
                      config.scheduler.time_attr));
  }
  PrintSampledTable(table, config);
  return 0;
}

}  // namespace

int SimulateCommand(const SimulateOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  Comparison all;
  all.config =
      options.scheduler
          ? ConfigInstead(
                sweep, "--scheduler", "hyperopt.executor.scheduler", *options.scheduler)
          : sweep.config;
  const std::vector<KnownCurve> curves = CurvesOf(sweep, all.config);
  all.trials = curves.size();
  if (all.config.scheduler.kind == SchedulerKind::kPbt) {
    throw ConfigError(
        "pbt can not be replayed: it makes changed copies of trials, and how these "
        "would "
        "have gone on is in no record; name another with --scheduler");
  }
  all.concurrency =
      options.concurrency.value_or(all.config.executor.max_concurrent_trials.value_or(
          MostAtOnce(sweep.record.trials)));
  if (options.sampler) return SimulateSampler(sweep, curves, options, std::move(all));
  SearchConfig as_recorded = all.config;
  as_recorded.scheduler = {};
  all.was = Simulate(curves, as_recorded, all.concurrency);
  all.was.beyond.clear();
  all.would = Simulate(curves, all.config, all.concurrency);
  if (options.json) {
    const OrderedJson json = {{"concurrency", all.concurrency},
                              {"trials", all.trials},
                              {"time_attr", all.config.scheduler.time_attr},
                              {"recorded", ToJson(all.was)},
                              {"simulated", ToJson(all.would)}};
    std::printf("%s\n", DumpJson(json).c_str());
    return 0;
  }
  for (const std::string& note : all.config.notes) {
    if (note.find("scheduler") != note.npos) Print("note: " + note);
  }
  PrintText(all);
  return 0;
}

}  // namespace hyperopt
