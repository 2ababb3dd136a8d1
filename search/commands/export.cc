#include "search/commands/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "search/commands/export_common.h"
#include "search/commands/sweep_dir.h"
#include "search/recorded_history.h"
#include "search/standing_text.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// ---- JSON ----

std::string JsonNumber(const Objective& value) {
  if (value.missing()) return "null";
  const std::string text = DoubleToText(value.AsDouble());
  return value.finite() ? text : '"' + text + '"';
}

std::string JsonTime(WallTime time) { return time == 0 ? "null" : DoubleToText(time); }

std::string JsonList(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    json += (json.size() > 1 ? "," : "") + QuoteJson(text);
  }
  return json + "]";
}

// {"step": 3, "attempt": 1, "loss": 0.4}: `values` is an object's text already.
std::string JsonReport(const ReportRow& report) {
  std::string json = fmt::format("{{\"step\":{}", report.step);
  const bool own_attempt = report.values.find("\"attempt\":") != std::string::npos;
  if (!own_attempt) json += fmt::format(",\"attempt\":{}", report.key.attempt.value());
  if (report.values.size() > 2) json += "," + report.values.substr(1);
  return report.values.size() > 2 ? json : json + "}";
}

std::string JsonTrial(const TrialRecord& trial) {
  const TrialRow& row = *trial.row;
  const std::vector<std::string> none;
  return fmt::format(
      "{{\"id\":{},\"state\":\"{}\",\"attempt\":{},\"params\":{},\"best\":{},"
      "\"best_step\":{},\"last\":{},\"steps\":{},\"started\":{},\"ended\":{},"
      "\"executor\":{},\"devices\":{},\"reason\":{},\"detail\":{},{}\"reports\":[",
      row.id.value(),
      ToString(row.state),
      row.attempt.value(),
      ToJsonText(trial.params),
      JsonNumber(row.best),
      row.best_step,
      JsonNumber(row.last),
      row.last_step,
      JsonTime(row.started),
      JsonTime(row.ended),
      trial.run ? QuoteJson(trial.executor) : "null",
      JsonList(trial.run ? trial.run->devices : none),
      QuoteJson(ToString(row.reason)),
      QuoteJson(row.detail),
      row.parent ? fmt::format("\"parent\":{},", row.parent->value()) : "");
}

// All of several objectives, the first one too.
std::string ObjectivesMember(const SearchConfig& config) {
  if (config.objectives.empty()) return "";
  const auto member = [](const std::string& metric, Goal goal) {
    return fmt::format(
        "{{\"metric\":{},\"goal\":\"{}\"}}", QuoteJson(metric), ToString(goal));
  };
  std::string text = "\"objectives\":[" + member(config.metric, config.goal);
  for (const OtherObjective& other : config.objectives) {
    text += "," + member(other.metric, other.goal);
  }
  return text + "],";
}

// ---- CSV ----

// RFC 4180: quoted where it must be.
std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += (i > 0 ? "," : "") + CsvCell(cells[i]);
  }
  return line + "\n";
}

std::string CsvNumber(const Objective& value) {
  return value.missing() ? "" : DoubleToText(value.AsDouble());
}

const std::vector<std::string>& CsvColumns() {
  static const std::vector<std::string> columns = {"id",
                                                   "state",
                                                   "reason",
                                                   "detail",
                                                   "attempt",
                                                   "best",
                                                   "best_step",
                                                   "last",
                                                   "last_step",
                                                   "started",
                                                   "ended",
                                                   "executor",
                                                   "devices"};
  return columns;
}

std::string JoinedWith(const std::vector<std::string>& texts, const char* between) {
  return fmt::format("{}", fmt::join(texts, between));
}

std::vector<std::string> CsvCells(const TrialRecord& trial) {
  const TrialRow& row = *trial.row;
  const auto time = [](WallTime t) { return t == 0 ? "" : DoubleToText(t); };
  return {std::to_string(row.id.value()),
          std::string(ToString(row.state)),
          std::string(ToString(row.reason)),
          row.detail,
          std::to_string(row.attempt.value()),
          CsvNumber(row.best),
          row.best.missing() ? "" : std::to_string(row.best_step),
          CsvNumber(row.last),
          row.last.missing() ? "" : std::to_string(row.last_step),
          time(row.started),
          time(row.ended),
          trial.executor,
          trial.run ? JoinedWith(trial.run->devices, " ") : ""};
}

// The same in each row of a configuration.
void AddStanding(const Standing& standing, std::vector<std::string>* cells) {
  const auto number = [](double value) {
    return std::isnan(value) ? std::string() : DoubleToText(value);
  };
  cells->push_back(std::to_string(standing.first.value()));
  cells->push_back(number(standing.mean));
  cells->push_back(number(standing.error));
  cells->push_back(std::to_string(standing.values.size()));
}

}  // namespace

std::optional<ExportFormat> ExportFormatFromString(const std::string& text) {
  if (text == "csv") return ExportFormat::kCsv;
  if (text == "json") return ExportFormat::kJson;
  if (text == "ludwig") return ExportFormat::kLudwig;
  if (text == "tensorboard") return ExportFormat::kTensorboard;
  if (text == "mlflow") return ExportFormat::kMlflow;
  if (text == "optuna") return ExportFormat::kOptuna;
  return std::nullopt;
}

void ExportJson(const RecordedSweep& sweep, const TextSink& sink) {
  const SweepRow& row = sweep.record.sweep;
  sink(fmt::format(
      "{{\"sweep\":{{\"name\":{},\"state\":\"{}\",\"goal\":\"{}\",\"metric\":{},"
      "\"value\":\"{}\",{}\"seed\":{}}},\n\"trials\":[",
      QuoteJson(row.name),
      ToString(row.state),
      ToString(row.goal),
      QuoteJson(row.metric),
      sweep.config.value == ValueRule::kLast ? "last" : "best",
      ObjectivesMember(sweep.config),
      row.seed));
  const char* between = "\n";
  ForEachTrial(sweep, [&](const TrialRecord& trial) {
    sink(between);
    between = ",\n";
    sink(JsonTrial(trial));
    const char* comma = "";
    for (const ReportRow& report : sweep.store->LoadReports(trial.row->id)) {
      sink(comma);
      comma = ",";
      sink(JsonReport(report));
    }
    sink("]}");
  });
  sink("\n]");
  if (sweep.config.repeats > 1) {
    sink(",\n\"configurations\":[");
    between = "\n";
    const Race race = RaceOf(sweep.record.trials, sweep.config, TrialId(0));
    for (const Standing* standing : race.Ranked()) {
      sink(between + DumpJson(StandingToJson(*standing)));
      between = ",\n";
    }
    sink("\n]");
  }
  sink("}\n");
}

void ExportCsv(const RecordedSweep& sweep, const TextSink& sink) {
  std::vector<std::string> titles = CsvColumns();
  std::optional<Race> race;
  if (sweep.config.repeats > 1) {
    race.emplace(RaceOf(sweep.record.trials, sweep.config, TrialId(0)));
    titles.insert(titles.end(), {"of", "mean", "error", "n"});
  }
  for (const Parameter& parameter : sweep.config.space.parameters()) {
    const bool taken =
        std::find(titles.begin(), titles.end(), parameter.name) != titles.end();
    titles.push_back((taken ? "params." : "") + parameter.name);
  }
  sink(CsvLine(titles));
  ForEachTrial(sweep, [&](const TrialRecord& trial) {
    std::vector<std::string> cells = CsvCells(trial);
    if (race) AddStanding(race->Of(trial.row->id), &cells);
    for (const Parameter& parameter : sweep.config.space.parameters()) {
      const auto value = trial.params.find(parameter.name);
      cells.push_back(value == trial.params.end() ? "" : ToWord(value->second));
    }
    sink(CsvLine(cells));
  });
}

namespace {

const std::filesystem::path& OutputOf(const ExportOptions& options, const char* what) {
  if (options.output) return *options.output;
  throw ConfigError(fmt::format("--output is missing: {}", what));
}

// False for a format that is a text.
bool ExportToTool(const ExportOptions& options, const RecordedSweep& sweep) {
  switch (*options.format) {
    case ExportFormat::kTensorboard:
      ExportTensorboard(sweep,
                        OutputOf(options, "the folder that the event files go to"));
      return true;
    case ExportFormat::kMlflow:
      std::printf("%s\n", ExportMlflow(sweep, options.uri).c_str());
      return true;
    case ExportFormat::kOptuna:
      ExportOptuna(sweep, OutputOf(options, "the database to write, as study.db"));
      return true;
    default:
      return false;
  }
}

}  // namespace

int ExportCommand(const ExportOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  const ExportFormat format = options.format.value_or(ExportFormat::kCsv);
  if (!options.uri.empty() && format != ExportFormat::kMlflow) {
    throw ConfigError("--uri is for --format mlflow");
  }
  if (options.format && ExportToTool(options, sweep)) return 0;
  std::FILE* out = stdout;
  if (options.output) {
    out = std::fopen(options.output->c_str(), "w");
    if (out == nullptr) ThrowFileError(*options.output, "can not be written", errno);
  }
  const TextSink sink = [out](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out);
  };
  switch (format) {
    case ExportFormat::kCsv:
      ExportCsv(sweep, sink);
      break;
    case ExportFormat::kJson:
      ExportJson(sweep, sink);
      break;
    default:
      ExportLudwig(sweep, sink);
      break;
  }
  const bool bad = std::fflush(out) != 0 || std::ferror(out) != 0;
  const int why = errno;
  if (options.output) std::fclose(out);
  if (bad) {
    ThrowFileError(options.output.value_or("stdout"), "can not be written", why);
  }
  return 0;
}

}  // namespace hyperopt
