#include "search/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "search/report/importance.h"
#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"
#include "search/report/internal/report_source.h"
#include "search/report/landscape.h"
#include "search/scheduler.h"
#include "search/status.h"
#include "trial/json.h"

namespace hyperopt {

namespace {

using internal::AppendColumn;
using internal::AppendEscaped;
using internal::AppendInteger;
using internal::AppendName;
using internal::AppendNumber;
using internal::AppendNumberMember;
using internal::AppendText;
using internal::AppendTime;
using internal::ReportSource;

// ---- the sweep ----

std::string SamplerWord(const SweepRow& row) {
  const auto found = row.settings.find("hyperopt.search_alg.type");
  if (found == row.settings.end()) return "";
  const std::string& json = found->second;
  return json.size() > 1 && json.front() == '"' ? json.substr(1, json.size() - 2)
                                                : json;
}

void AppendSweep(const ReportSource& source, std::string* out) {
  const SweepRow& row = source.sweep->record.sweep;
  const SearchConfig& config = source.sweep->config;
  AppendName("sweep", out);
  *out += '{';
  AppendText("name", row.name, out);
  AppendText("state", StateWord(row), out);
  AppendText("goal", ToString(row.goal), out);
  AppendText("metric", row.metric, out);
  AppendText("value", config.value == ValueRule::kLast ? "last" : "best", out);
  AppendText("seed", std::to_string(row.seed), out);
  AppendNumberMember("created", row.created, out);
  AppendNumberMember("alive_s", std::round(row.alive_s * 100) / 100, out);
  AppendText("sampler", SamplerWord(row), out);
  for (const char* name : {"host", "commit"}) {
    const auto found = row.origin.find(name);
    AppendText(name, found == row.origin.end() ? "" : found->second, out);
  }
  *out += '}';
}

void AppendAsha(const ReportSource& source, std::string* out) {
  const SchedulerOptions& options = source.sweep->config.scheduler;
  AppendName("asha", out);
  if (options.kind != SchedulerKind::kAsha) {
    *out += "null";
    return;
  }
  *out += '{';
  AppendText("time_attr", options.time_attr, out);
  AppendNumberMember("max_t", static_cast<double>(options.max_t), out);
  AppendColumn("levels", RungLevels(options), AppendInteger, out);
  *out += '}';
}

void AppendRungs(const ReportSource& source, std::string* out) {
  struct Count {
    int64_t level = 0, entered = 0, stopped = 0;
  };
  std::map<int64_t, Count> counts;
  for (const RungRow& row : source.sweep->record.rungs) {
    if (row.value.missing()) continue;
    Count& count = counts[row.level];
    count.level = row.level;
    ++count.entered;
    count.stopped += row.stopped;
  }
  const auto append = [](const auto& entry, std::string* text) {
    *text += fmt::format("{{\"level\":{},\"entered\":{},\"stopped\":{}}}",
                         entry.second.level,
                         entry.second.entered,
                         entry.second.stopped);
  };
  AppendColumn("rungs", counts, append, out);
}

// ---- conclusions ----

void AppendImportance(const Importance& importance, std::string* out) {
  AppendName("importance", out);
  *out += fmt::format("{{\"used\":{},\"top\":{}", importance.used, importance.top);
  if (importance.shares.empty()) {
    AppendText("why", importance.why, out);
  } else {
    const auto share = [](double value, std::string* to) {
      AppendNumber(value, 4, to);
    };
    AppendColumn("shares", importance.shares, share, out);
  }
  *out += '}';
}

// All that a model of the sweep depends on but the number of trials.
std::string SpaceText(const RecordedSweep& sweep) {
  std::string text(ToString(sweep.record.sweep.goal));
  for (const Parameter& each : sweep.config.space.parameters()) {
    text += fmt::format("\n{}\n{}", each.name, Describe(each.domain));
  }
  return text;
}

void AppendLandscape(const ReportSource& source,
                     const Importance& importance,
                     ReportMemo* memo,
                     std::string* out) {
  const RecordedSweep& sweep = *source.sweep;
  const std::vector<Objective> values = internal::EndedValues(source);
  const int64_t ended = std::ranges::count_if(values, &Objective::finite);
  const bool over = sweep.record.sweep.state != SweepState::kRunning;
  const std::string space = SpaceText(sweep);
  const bool fresh =
      memo->space == space && ended >= memo->ended &&
      (ended == memo->ended || (!over && ended < memo->ended + memo->ended / 10 + 1));
  if (!fresh) {
    const Landscape landscape = LandscapeOf(sweep.config.space,
                                            sweep.record.sweep.goal,
                                            source.params,
                                            values,
                                            importance.shares);
    *memo = {space, ended, internal::LandscapeJson(sweep.config.space, landscape)};
  }
  AppendName("landscape", out);
  *out += memo->landscape;
}

void AppendBest(const ReportSource& source, std::string* out) {
  const RecordedSweep& sweep = *source.sweep;
  const TrialRow* best = FindBest(source.trials(), sweep.config);
  AppendName("best_params", out);
  if (best == nullptr) {
    *out += "null";
  } else {
    const auto index = static_cast<size_t>(best->id.value());
    AppendEscaped(ToJsonText(source.params[index]), out);
  }
}

}  // namespace

std::string ReportJson(const RecordedSweep& sweep, WallTime now) {
  ReportMemo memo;
  return ReportJson(sweep, now, &memo);
}

std::string ReportJson(const RecordedSweep& sweep, WallTime now, ReportMemo* memo) {
  const ReportSource source = internal::ReadReportSource(sweep, now);
  std::string out = "{";
  AppendNumberMember("v", 1, &out);
  AppendNumberMember("written", now, &out);
  AppendText("program", HYPEROPT_VERSION, &out);
  AppendText(
      "dir", std::filesystem::absolute(sweep.dir).lexically_normal().string(), &out);
  AppendName("until", &out);
  AppendTime(source, source.until, &out);
  AppendSweep(source, &out);
  AppendAsha(source, &out);
  AppendRungs(source, &out);
  internal::AppendParams(source, &out);
  internal::AppendTrials(source, &out);
  internal::AppendRuns(source, &out);
  internal::AppendCurves(source, &out);
  internal::AppendObjectives(source, &out);
  internal::AppendSpreads(source, &out);
  internal::AppendPieces(source, &out);
  const Importance importance = ImportanceOf(
      sweep.config.space, sweep.record.sweep.goal, source.params, source.values);
  AppendImportance(importance, &out);
  AppendLandscape(source, importance, memo, &out);
  AppendBest(source, &out);
  return out + '}';
}

}  // namespace hyperopt
