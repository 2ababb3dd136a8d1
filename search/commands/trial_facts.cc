#include "search/commands/trial_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "executors/attempt_folder.h"
#include "search/commands/recorded_sweep.h"
#include "search/format.h"
#include "search/recorded_history.h"
#include "search/standby.h"
#include "trial/errors.h"
#include "trial/packed.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLastBytes = 4 << 10;
constexpr size_t kLastLines = 10;

std::vector<std::pair<int64_t, double>> CurveOf(const std::vector<ReportRow>& reports) {
  std::map<int64_t, std::pair<Attempt, double>> points;
  for (const ReportRow& report : reports) {
    if (report.objective.missing()) continue;
    const std::pair value(report.key.attempt, report.objective.AsDouble());
    const auto [at, is_new] = points.try_emplace(report.step, value);
    if (!is_new && at->second.first <= value.first) at->second = value;
  }
  std::vector<std::pair<int64_t, double>> curve;
  for (const auto& [step, value] : points) curve.emplace_back(step, value.second);
  return curve;
}

// What a bar wrote over itself is left out: a terminal would show its end.
std::vector<std::string> LastLines(std::istream& in) {
  std::vector<std::string> lines;
  if (!in) return lines;
  in.seekg(0, std::ios::end);
  const int64_t size = in.tellg();
  in.seekg(std::max<int64_t>(0, size - kLastBytes));
  std::string line;
  if (size > kLastBytes) std::getline(in, line);  // the rest of one
  while (std::getline(in, line)) {
    while (line.ends_with('\r')) line.pop_back();
    line = Printable(line.substr(line.rfind('\r') + 1));
    if (line.find_first_not_of(' ') != line.npos) lines.push_back(line);
  }
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return lines;
}

std::vector<std::string> LastWords(const TrialFacts& facts) {
  const RunKey& key = facts.runs.back().key;
  if (const auto kept = KeptFile(facts.files, key, kStderrFile)) {
    std::istringstream in(*kept);
    return LastLines(in);
  }
  std::ifstream in(AttemptFolder(facts.dir, key) / kStderrFile, std::ios::binary);
  return LastLines(in);
}

fs::path NewestCheckpoint(const TrialFacts& facts) {
  for (auto run = facts.runs.rbegin(); run != facts.runs.rend(); ++run) {
    const fs::path folder = AttemptFolder(facts.dir, run->key);
    const std::vector<int64_t> steps = CompleteCheckpoints(folder);
    if (!steps.empty()) {
      return folder / kCheckpointFolder / std::to_string(steps.back());
    }
  }
  return {};
}

}  // namespace

RecordQuery OpenQuery(const fs::path& dir) {
  RequireSweep(dir);
  return RecordQuery(dir / "sweep.db");
}

TrialRow TrialOf(const RecordQuery& query, TrialId id) {
  if (auto row = query.Trial(id)) return *std::move(row);
  const int64_t count = query.TrialCount();
  throw ConfigError(fmt::format("there is no trial {}: the sweep has {} so far{}",
                                id.value(),
                                count,
                                count > 0 ? ", numbered from 0" : ""));
}

fs::path AttemptFolder(const fs::path& sweep_dir, const RunKey& key) {
  return AttemptDir(fs::absolute(sweep_dir).lexically_normal(), key);
}

std::optional<std::string> KeptFile(const std::vector<FileRow>& files,
                                    const RunKey& key,
                                    std::string_view name) {
  for (const FileRow& file : files) {
    if (file.key != key || file.name != name) continue;
    if (auto text = Unpack(file.data, file.size)) return text;
    throw EnvironmentError(
        fmt::format("the record's copy of {} of trial {} is damaged; the other copies "
                    "can be read: sqlite3 sweep.db .recover",
                    name,
                    key.trial.value()));
  }
  return std::nullopt;
}

TrialFacts ReadTrial(const fs::path& dir, TrialId id) {
  const RecordQuery query = OpenQuery(dir);
  std::optional<SweepRow> sweep = query.Sweep();
  if (!sweep) throw ConfigError(dir.string() + ": the sweep has not begun yet");
  TrialFacts facts;
  facts.dir = fs::absolute(dir).lexically_normal();
  facts.sweep = *std::move(sweep);
  facts.row = TrialOf(query, id);
  if (!StandingBy(query.store(), {facts.row}).empty()) MakeWaiting(&facts.row);
  facts.config = ConfigOfRecord(facts.sweep);
  if (facts.config.repeats > 1) {
    facts.race.emplace(RaceOf(query.store().Load()->trials, facts.config, TrialId(0)));
  }
  facts.params = query.store().LoadParams(std::vector{id}).front();
  facts.runs = query.store().LoadRuns(id);
  for (const RunRow& run : facts.runs) {
    if (auto executor = query.Executor(run.executor)) {
      facts.executors[run.executor] = *std::move(executor);
    }
  }
  facts.rungs = query.Rungs(id);
  facts.reports = query.store().LoadReports(id);
  facts.curve = CurveOf(facts.reports);
  facts.files = query.store().LoadFiles(id);
  facts.checkpoint = NewestCheckpoint(facts);
  if (!facts.runs.empty()) {
    facts.last_words = LastWords(facts);
  }
  return facts;
}

}  // namespace hyperopt
