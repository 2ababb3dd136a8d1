#include <fmt/format.h>

#include <cmath>
#include <map>

#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kMostDetail = 400;

struct Spent {
  double busy_s = 0, gpu_s = 0;
};

std::vector<Spent> SpentOf(const ReportSource& source) {
  std::vector<Spent> spent(source.trials().size());
  for (const ReportRun& run : source.runs) {
    const WallTime end = run.row.ended > 0 ? run.row.ended : source.until;
    const double seconds = std::max(0.0, end - run.row.started);
    Spent& trial = spent[static_cast<size_t>(run.row.key.trial.value())];
    trial.busy_s += seconds;
    trial.gpu_s += seconds * run.gpus;
  }
  return spent;
}

std::vector<int64_t> LevelsOf(const ReportSource& source) {
  std::vector<int64_t> levels(source.trials().size(), 0);
  for (const RungRow& row : source.sweep->record.rungs) {
    if (row.value.missing()) continue;
    int64_t& level = levels[static_cast<size_t>(row.trial.value())];
    level = std::max(level, row.level);
  }
  return levels;
}

}  // namespace

void AppendTime(const ReportSource& source, WallTime time, std::string* out) {
  if (time == 0) {
    *out += "null";
  } else {
    AppendNumber(std::round((time - source.begin) * 100) / 100, 11, out);
  }
}

void AppendTrials(const ReportSource& source, std::string* out) {
  TextPool states, reasons, details;
  details.Of("");
  const auto& rows = source.trials();
  const std::vector<Spent> spent = SpentOf(source);
  std::string text = "{";
  const auto column = [&](const char* name, auto append) {
    AppendColumn(name, rows, append, &text);
  };
  const auto integers = [&](const char* name, auto of) {
    column(name, [of](const TrialRow& row, std::string* to) {
      AppendInteger(static_cast<int64_t>(of(row)), to);
    });
  };
  integers("state",
           [&](const TrialRow& row) { return states.Of(ToString(row.state)); });
  integers("reason",
           [&](const TrialRow& row) { return reasons.Of(ToString(row.reason)); });
  integers("detail", [&](const TrialRow& row) {
    return details.Of(std::string_view(row.detail).substr(0, kMostDetail));
  });
  integers("attempt", [](const TrialRow& row) { return row.attempt.value(); });
  integers("lost", [](const TrialRow& row) { return row.lost; });
  integers("best_step", [](const TrialRow& row) { return row.best_step; });
  integers("last_step", [](const TrialRow& row) { return row.last_step; });
  integers("reports", [](const TrialRow& row) { return row.reports; });
  column("best",
         [](const TrialRow& row, std::string* to) { AppendObjective(row.best, to); });
  column("last",
         [](const TrialRow& row, std::string* to) { AppendObjective(row.last, to); });
  column("started", [&](const TrialRow& row, std::string* to) {
    AppendTime(source, row.started, to);
  });
  column("ended", [&](const TrialRow& row, std::string* to) {
    AppendTime(source, row.ended, to);
  });
  const auto hundredths = [](double value, std::string* to) {
    AppendNumber(std::round(value * 100) / 100, 11, to);
  };
  AppendColumn(
      "busy",
      spent,
      [&](const Spent& s, std::string* to) { hundredths(s.busy_s, to); },
      &text);
  AppendColumn(
      "gpu_s",
      spent,
      [&](const Spent& s, std::string* to) { hundredths(s.gpu_s, to); },
      &text);
  AppendColumn(
      "level",
      LevelsOf(source),
      [](int64_t level, std::string* to) {
        if (level == 0) {
          *to += "null";
        } else {
          AppendInteger(level, to);
        }
      },
      &text);
  AppendName("trials", out);
  *out += text + '}';
  AppendColumn("states", states.texts(), AppendQuoted, out);
  AppendColumn("reasons", reasons.texts(), AppendQuoted, out);
  AppendColumn("details", details.texts(), AppendQuoted, out);
}

}  // namespace hyperopt::internal
