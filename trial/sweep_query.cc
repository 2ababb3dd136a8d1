#include "trial/sweep_query.h"

#include <fmt/format.h>

#include "trial/internal/sqlite_rows.h"

namespace hyperopt {
namespace {

// `column` is best or last.
std::string ByValue(const char* column, Goal goal, bool turned) {
  const bool up = (goal == Goal::kMinimize) != turned;
  return fmt::format("state = 'failed' {1}, {0}_kind = 'finite' {2}, {0} {3}",
                     column,
                     turned ? "DESC" : "ASC",
                     turned ? "ASC" : "DESC",
                     up ? "ASC" : "DESC");
}

std::string ByColumn(const TrialsWanted& wanted, TrialColumn column) {
  const char* direction = wanted.turned ? "DESC" : "ASC";
  switch (column) {
    case TrialColumn::kBest:
      return ByValue("best", wanted.goal, wanted.turned);
    case TrialColumn::kLast:
      return ByValue("last", wanted.goal, wanted.turned);
    case TrialColumn::kId:
      return fmt::format("id {}", direction);
    case TrialColumn::kState:
      return fmt::format(
          "CASE state WHEN 'pending' THEN 0 WHEN 'running' THEN 1 WHEN 'paused' THEN 2 "
          "WHEN 'completed' THEN 3 WHEN 'stopped' THEN 4 ELSE 5 END {}",
          direction);
    case TrialColumn::kStarted:
      return fmt::format("coalesce(started, 0) {}", direction);
    case TrialColumn::kEnded:
      return fmt::format("coalesce(ended, 0) {}", direction);
  }
  return "id";
}

std::string ByParameter(bool turned) {
  const char* direction = turned ? "DESC" : "ASC";
  return fmt::format(
      "p.value IS NULL {0}, CASE json_type(p.value) WHEN 'null' THEN 0 WHEN 'true' "
      "THEN "
      "1 WHEN 'false' THEN 1 WHEN 'integer' THEN 2 WHEN 'real' THEN 2 WHEN 'text' THEN "
      "3 ELSE 4 END {0}, json_extract(p.value, '$') {0}",
      direction);
}

std::string Where(const TrialsWanted& wanted) {
  std::string where;
  const auto add = [&](const std::string& condition) {
    where += (where.empty() ? " WHERE " : " AND ") + condition;
  };
  // The words of a state and of a column are ours.
  if (wanted.state) add(fmt::format("state = '{}'", ToString(*wanted.state)));
  if (wanted.only_ranked) {
    const auto* column = std::get_if<TrialColumn>(&wanted.order);
    const bool last = column != nullptr && *column == TrialColumn::kLast;
    add(fmt::format("state <> 'failed' AND {}_kind = 'finite'",
                    last ? "last" : "best"));
  }
  return where;
}

// Where trials wait, as a table whose states say so.
std::string From(const TrialsWanted& wanted) {
  if (wanted.waiting.empty()) return "trial";
  std::string ids;
  for (const TrialId id : wanted.waiting) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", id.value());
  }
  constexpr std::string_view kFirst = "id, state,";
  static_assert(kTrialColumns.starts_with(kFirst));
  return fmt::format(
      "(SELECT id, CASE WHEN id IN ({}) THEN 'pending' ELSE state END AS state,{} "
      "FROM trial) AS trial",
      ids,
      kTrialColumns.substr(kFirst.size()));
}

std::string Select(const TrialsWanted& wanted) {
  const auto* column = std::get_if<TrialColumn>(&wanted.order);
  return fmt::format(
      "SELECT {} FROM {}{}{} ORDER BY {}, id LIMIT {}",
      kTrialColumns,
      From(wanted),
      column == nullptr ? " LEFT JOIN parameter AS p ON p.trial = id AND p.name = ?"
                        : "",
      Where(wanted),
      column == nullptr ? ByParameter(wanted.turned) : ByColumn(wanted, *column),
      wanted.limit == 0 ? -1 : wanted.limit);
}

}  // namespace

struct SweepQuery::Connection {
  explicit Connection(const std::filesystem::path& path)
      : database(path, HowToRead(path)), reader(database) {}

  Database database;
  RecordReader reader;
};

SweepQuery::SweepQuery(const std::filesystem::path& path)
    : store_(OpenSqliteStore(path, StoreMode::kReadOnly)),
      connection_(std::make_unique<Connection>(std::filesystem::absolute(path))) {}

SweepQuery::~SweepQuery() = default;

std::optional<SweepRow> SweepQuery::Sweep() const {
  Database& database = connection_->database;
  std::optional<SweepRow> sweep;
  Statement(database,
            "SELECT id, name, goal, metric, state, created, alive_s, extra_trials "
            "FROM sweep")
      .ForEach([&](RowReader row) {
        sweep.emplace();
        sweep->id = row.Text();
        sweep->name = row.Text();
        sweep->goal =
            row.Text() == ToString(Goal::kMaximize) ? Goal::kMaximize : Goal::kMinimize;
        sweep->metric = row.Text();
        sweep->state = row.Word(SweepStateFromString);
        sweep->created = row.Real();
        sweep->alive_s = row.Real();
        sweep->extra_trials = row.Integer();
        return false;
      });
  if (!sweep) return sweep;
  Statement(database,
            "SELECT kind, name, value FROM sweep_text "
            "WHERE NOT (kind = 'file' AND name = 'config')")
      .ForEach([&](RowReader row) {
        const std::string kind(row.Text());
        const std::string name(row.Text());
        if (kind == "setting") sweep->settings[name] = row.Text();
        if (kind == "origin") sweep->origin[name] = row.Text();
        if (kind == "file") sweep->resolved = row.Text();
        return true;
      });
  return sweep;
}

std::map<TrialState, int64_t> SweepQuery::Counts() const {
  std::map<TrialState, int64_t> counts;
  Statement(connection_->database, "SELECT state, count(*) FROM trial GROUP BY 1")
      .ForEach([&](RowReader row) {
        const TrialState state = row.Word(TrialStateFromString);
        counts[state] = row.Integer();
        return true;
      });
  return counts;
}

int64_t SweepQuery::CountProposed(int64_t first) const {
  int64_t count = 0;
  Statement(connection_->database,
            "SELECT count(*) FROM trial WHERE id >= ? AND history >= 0 "
            "AND parent IS NULL")
      .ForEach(
          [&](RowReader row) {
            count = row.Integer();
            return false;
          },
          first);
  return count;
}

std::vector<TrialRow> SweepQuery::Trials(const TrialsWanted& wanted) const {
  std::vector<TrialRow> rows;
  const auto take = [&](RowReader row) {
    rows.push_back(ReadTrial(row));
    return true;
  };
  Statement statement(connection_->database, Select(wanted));
  if (const auto* name = std::get_if<std::string>(&wanted.order)) {
    statement.ForEach(take, *name);
  } else {
    statement.ForEach(take);
  }
  return rows;
}

std::vector<Params> SweepQuery::ParamsOf(const std::vector<TrialRow>& rows) const {
  std::vector<Params> params;
  params.reserve(rows.size());
  for (const TrialRow& row : rows) {
    params.push_back(connection_->reader.LoadParams(row.id));
  }
  return params;
}

}  // namespace hyperopt
