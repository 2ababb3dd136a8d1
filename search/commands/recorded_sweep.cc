#include "search/commands/recorded_sweep.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "search/limits.h"
#include "search/origin.h"
#include "search/standby.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

// "" where the file can not be read.
std::string HashOf(const std::string& path) {
  try {
    const auto text = ReadFile(path);
    return text ? fmt::format("{:016x}", HashText(*text)) : "";
  } catch (const EnvironmentError&) {
    return "";
  }
}

SearchConfig ConfigOfFile(const SweepRow& row) {
  try {
    const auto cwd = row.origin.find("cwd");
    return ParseConfig(
        row.resolved, "the record", cwd == row.origin.end() ? "." : cwd->second);
  } catch (const ConfigErrors& errors) {
    throw EnvironmentError(
        fmt::format("the record's search file can not be read by hyperopt {}: {}",
                    HYPEROPT_VERSION,
                    errors.what()));
  }
}

}  // namespace

std::string RecordStamp(const std::filesystem::path& dir) {
  std::string stamp;
  for (const char* name : {"sweep.db", "sweep.db-wal"}) {
    struct stat found = {};
    if (stat((dir / name).c_str(), &found) != 0) continue;
    stamp += fmt::format(" {}:{}:{}.{}",
                         found.st_ino,
                         found.st_size,
                         found.st_mtim.tv_sec,
                         found.st_mtim.tv_nsec);
  }
  return stamp;
}

SearchConfig ConfigOfRecord(const SweepRow& row) {
  SearchConfig config = ConfigOfFile(row);
  SweepRow unchanged = row;
  ApplyLimits(&unchanged, &config);
  return config;
}

SearchConfig ConfigForResume(const SweepRow& row) {
  SearchConfig config = ConfigOfFile(row);
  config.text = row.config;
  if (const auto file = row.origin.find("config_file"); file != row.origin.end()) {
    config.file = file->second;
  }
  config.notes.clear();
  for (const auto& [name, hash] : row.origin) {
    if (!name.starts_with(kInputOrigin)) continue;
    const std::string path = name.substr(kInputOrigin.size());
    if (HashOf(path) == hash) continue;
    config.notes.push_back(
        fmt::format("{} is not what it was when the sweep began; the sweep goes on "
                    "with what it held then",
                    path));
  }
  return config;
}

void RequireOwnTrials(const SweepRow& row, const std::filesystem::path& dir) {
  const auto found = row.origin.find(std::string(kImportedOrigin));
  if (found == row.origin.end()) return;
  throw ConfigError(fmt::format(
      "{}: its trials were imported (from {}), there is no program to run; look at "
      "them "
      "with report, trials, best and show, or add their settings to a search of yours: "
      "hyperopt export --format csv, hyperopt add --csv",
      dir.string(),
      found->second));
}

void RequireSweep(const std::filesystem::path& dir) {
  if (std::filesystem::exists(dir / "sweep.db")) return;
  throw ConfigError(dir.string() +
                    ": there is no sweep here (no sweep.db); name the folder that "
                    "holds it, results/<name>");
}

RecordedSweep ReadSweep(const std::filesystem::path& dir) {
  RecordedSweep sweep;
  sweep.dir = dir;
  RequireSweep(dir);
  sweep.store = OpenSqliteStore(dir / "sweep.db", StoreMode::kReadOnly);
  std::optional<RecordSnapshot> record = sweep.store->Load();
  if (!record) {
    throw ConfigError(dir.string() + ": the sweep has not begun yet");
  }
  sweep.record = std::move(*record);
  for (const TrialId id : StandingBy(*sweep.store, sweep.record.trials)) {
    MakeWaiting(&sweep.record.trials[static_cast<size_t>(id.value())]);
  }
  sweep.config = ConfigOfRecord(sweep.record.sweep);
  return sweep;
}

const TrialRow& TrialOf(const RecordedSweep& sweep, TrialId id) {
  const int64_t count = std::ssize(sweep.record.trials);
  if (id.value() < 0 || id.value() >= count) {
    throw ConfigError(fmt::format("there is no trial {}: the sweep has {} so far{}",
                                  id.value(),
                                  count,
                                  count > 0 ? ", numbered from 0" : ""));
  }
  return sweep.record.trials[static_cast<size_t>(id.value())];
}

}  // namespace hyperopt
