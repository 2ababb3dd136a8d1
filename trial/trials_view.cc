#include "trial/trials_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trial/internal/sqlite.h"

namespace hyperopt {
namespace {

// SQLite takes 2,000 columns in a view.
constexpr size_t kMostColumns = 1'900;

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted += c;
    quoted += c;
  }
  return quoted + quote;
}

// As SQLite compares names of columns.
std::string Folded(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

class Columns {
 public:
  // Of the names that everyone may count on.
  void AddOwn(const std::string& name, const std::string& expression) {
    Put(name, expression);
  }
  void Add(const std::string& kind,
           const std::string& name,
           const std::string& expression) {
    if (taken_.size() == kMostColumns) return;
    std::string shown = name;
    if (taken_.contains(Folded(shown))) shown = kind + "." + name;
    for (int n = 2; taken_.contains(Folded(shown)); ++n) {
      shown = fmt::format("{}.{}.{}", kind, name, n);
    }
    Put(shown, expression);
  }
  void Reserve(const char* name) { taken_.insert(name); }
  const std::string& text() const { return text_; }

 private:
  void Put(const std::string& name, const std::string& expression) {
    taken_.insert(Folded(name));
    text_ += fmt::format(
        "{}\n  {} AS {}", text_.empty() ? "" : ",", expression, Quoted(name, '"'));
  }

  std::set<std::string> taken_;
  std::string text_;
};

std::vector<std::string> Names(Database& database, const char* sql) {
  std::vector<std::string> names;
  Statement(database, sql).ForEach([&](RowReader row) {
    names.emplace_back(row.Text());
    return true;
  });
  return names;
}

std::vector<std::string> ParameterNames(Database& database,
                                        const TrialsViewOptions& options) {
  std::vector<std::string> names = options.parameters;
  for (std::string& name :
       Names(database, "SELECT DISTINCT name FROM parameter ORDER BY name")) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// Of what is reported, a hundred reports from either end show it.
constexpr char kFieldNames[] = R"sql(
SELECT DISTINCT key FROM (
  SELECT fields FROM (SELECT fields FROM report ORDER BY number LIMIT 100)
  UNION ALL
  SELECT fields FROM (SELECT fields FROM report ORDER BY number DESC LIMIT 100)),
  json_each(fields) ORDER BY key)sql";

std::string ValueOf(const std::string& column) {
  return fmt::format(
      "CASE {0}_kind WHEN 'finite' THEN {0} WHEN 'missing' THEN NULL ELSE {0}_kind END",
      column);
}

std::string ViewText(Database& database, const TrialsViewOptions& options) {
  const std::string ranked = options.last ? "last" : "best";
  Columns columns;
  columns.AddOwn("id", "id");
  columns.AddOwn("state", "state");
  for (const char* name :
       {"step", "reason", "detail", "attempt", "reports", "started", "seconds"}) {
    columns.Reserve(name);
  }
  columns.Add("report", options.metric, ValueOf(ranked));
  columns.AddOwn("step", fmt::format("nullif({}_step, 0)", ranked));
  for (const std::string& name : ParameterNames(database, options)) {
    columns.Add("param",
                name,
                fmt::format("(SELECT json_extract(value, '$') FROM parameter WHERE "
                            "parameter.trial = trial.id AND name = {})",
                            Quoted(name, '\'')));
  }
  for (const std::string& name : Names(database, kFieldNames)) {
    // A path has no way to write a quote.
    if (name == options.metric || name.find('"') != name.npos) continue;
    const std::string path = Quoted("$.\"" + name + "\"", '\'');
    columns.Add("report",
                name,
                fmt::format("(SELECT json_extract(fields, {0}) FROM report WHERE "
                            "report.trial = trial.id AND step = {1}_step AND "
                            "json_type(fields, {0}) IS NOT NULL "
                            "ORDER BY attempt DESC, number DESC LIMIT 1)",
                            path,
                            ranked));
  }
  for (const char* name : {"reason", "detail", "attempt", "reports"}) {
    columns.AddOwn(name, name);
  }
  columns.AddOwn("started", "datetime(started, 'unixepoch')");
  columns.AddOwn("seconds", "round(ended - started, 3)");
  return fmt::format("CREATE VIEW trials AS SELECT{}\nFROM trial", columns.text());
}

}  // namespace

void RefreshTrialsView(const std::filesystem::path& path,
                       const TrialsViewOptions& options) {
  Database database(path, OpenHow::kReadWrite);
  database.Execute("PRAGMA busy_timeout = 2000");
  const std::string text = ViewText(database, options);
  const std::string now = database.ReadText(
      "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = 'trials'");
  if (now == text) return;
  Transaction transaction(database);
  database.Execute("DROP VIEW IF EXISTS trials;\n" + text);
  transaction.Commit();
}

}  // namespace hyperopt
