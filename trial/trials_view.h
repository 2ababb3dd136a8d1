// The view `trials` of a record: a column a parameter and a column a reported field,
// for a person with a SQLite shell and for data frames. Nothing in this program reads
// it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hyperopt {

struct TrialsViewOptions {
  std::string metric;
  bool last = false;  // the metric's column is the last value, not the best
  // In the order of their columns; others that the record holds come behind them.
  std::vector<std::string> parameters;
};

// Makes the view, or makes it anew where its columns are not those that the record
// asks for now: parameters of all eras, fields of the oldest and the newest reports. A
// name that is taken (case does not count) becomes "param.NAME" or "report.NAME".
//
// A connection of its own beside the store's; in the writer's process and between two
// of its commits. Throws EnvironmentError; the view is then as it was.
void RefreshTrialsView(const std::filesystem::path& database,
                       const TrialsViewOptions& options);

}  // namespace hyperopt
