#include <fmt/format.h>

#include <cmath>
#include <map>

#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"

namespace hyperopt::internal {

void AppendRuns(const ReportSource& source, std::string* out) {
  TextPool devices, outcomes;
  std::map<ExecutorId, int64_t> places;
  for (const ExecutorRow& row : source.sweep->record.executors) {
    places.emplace(row.id, std::ssize(places));
  }
  std::string text = "{";
  const auto integers = [&](const char* name, auto of) {
    AppendColumn(
        name,
        source.runs,
        [of](const ReportRun& run, std::string* to) {
          AppendInteger(static_cast<int64_t>(of(run.row)), to);
        },
        &text);
  };
  integers("trial", [](const RunRow& row) { return row.key.trial.value(); });
  integers("attempt", [](const RunRow& row) { return row.key.attempt.value(); });
  integers("executor", [&](const RunRow& row) {
    const auto found = places.find(row.executor);
    return found == places.end() ? -1 : found->second;
  });
  integers("devices", [&](const RunRow& row) {
    return devices.Of(fmt::format("{}", fmt::join(row.devices, ",")));
  });
  integers("outcome", [&](const RunRow& row) { return outcomes.Of(row.outcome); });
  const auto times = [&](const char* name, WallTime RunRow::*time) {
    AppendColumn(
        name,
        source.runs,
        [&](const ReportRun& run, std::string* to) {
          AppendTime(source, run.row.*time, to);
        },
        &text);
  };
  times("start", &RunRow::started);
  times("end", &RunRow::ended);
  AppendName("runs", out);
  *out += text + '}';
  AppendColumn("devices", devices.texts(), AppendQuoted, out);
  AppendColumn("outcomes", outcomes.texts(), AppendQuoted, out);
  const auto executor = [](const ExecutorRow& row, std::string* to) {
    *to += '{';
    AppendText("name", row.name, to);
    AppendText("host", row.host, to);
    *to += '}';
  };
  AppendColumn("executors", source.sweep->record.executors, executor, out);
  const auto span = [&](const auto& times_of, std::string* to) {
    *to += '[';
    AppendTime(source, times_of.first, to);
    *to += ',';
    AppendTime(source, times_of.second, to);
    *to += ']';
  };
  AppendColumn("absences", source.absences, span, out);
  AppendColumn("pauses", source.pauses, span, out);
}

}  // namespace hyperopt::internal
