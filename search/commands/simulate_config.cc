#include "search/commands/simulate_config.h"

#include <fmt/format.h>

#include <vector>

namespace hyperopt {

SearchConfig ConfigInstead(const RecordedSweep& sweep,
                           std::string_view option,
                           const std::string& key,
                           std::string text) {
  if (text.find_first_of(":{") == text.npos) text = "{type: " + text + "}";
  const SweepRow& row = sweep.record.sweep;
  const auto cwd = row.origin.find("cwd");
  try {
    return ParseConfig(row.resolved,
                       "the record",
                       cwd == row.origin.end() ? "." : cwd->second,
                       {{key, text}, {"hyperopt.repeats", "1"}});
  } catch (const ConfigErrors& errors) {
    std::vector<std::string> lines = errors.lines();
    for (std::string& line : lines) {
      for (const std::string& said :
           {fmt::format("--set {0}: {0}", key), fmt::format("--set {}", key)}) {
        if (!line.starts_with(said)) continue;
        line.replace(0, said.size(), option);
        break;
      }
    }
    throw ConfigErrors(std::move(lines));
  }
}

}  // namespace hyperopt
