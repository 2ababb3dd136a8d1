#include "search/warm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "search/commands/recorded_sweep.h"
#include "search/recorded_history.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// What was left out of a sweep, for a person.
struct LeftOut {
  std::map<std::string, int64_t> trials;  // why, how many
  std::map<std::string, int64_t> params;  // names that the search does not have
};

// The entry in the search's own space; nullopt where it does not fit.
std::optional<HistoryEntry> Mapped(const SearchSpace& space,
                                   const HistoryEntry& entry,
                                   LeftOut* left) {
  HistoryEntry mapped = entry;
  mapped.trial = kWarm;
  mapped.params.clear();
  mapped.seconds = 0;
  for (const auto& [name, value] : entry.params) {
    const Parameter* parameter = space.Find(name);
    if (parameter == nullptr) {
      ++left->params[name];
    } else if (!ToUnit(parameter->domain, value)) {
      ++left->trials[name + " is out of its range"];
      return std::nullopt;
    } else {
      mapped.params[name] = Typed(parameter->domain, value);
    }
  }
  mapped.params = space.Active(std::move(mapped.params));
  for (const Parameter& parameter : space.parameters()) {
    if (mapped.params.contains(parameter.name)) continue;
    if (!space.TakesPart(parameter, mapped.params)) continue;
    ++left->trials["has no " + parameter.name];
    return std::nullopt;
  }
  return mapped;
}

// In the order in which they ended.
std::vector<HistoryEntry> Chosen(std::vector<HistoryEntry> all, Goal goal) {
  if (all.size() <= kMostWarm) return all;
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto is_better = [&](size_t a, size_t b) {
    if (Better(goal, all[a].objective, all[b].objective)) return true;
    return !Better(goal, all[b].objective, all[a].objective) && a > b;
  };
  const auto best = order.begin() + kMostWarm / 2;
  std::nth_element(order.begin(), best, order.end(), is_better);
  std::sort(best, order.end(), std::greater());
  order.resize(kMostWarm);
  std::sort(order.begin(), order.end());
  std::vector<HistoryEntry> chosen;
  for (const size_t i : order) chosen.push_back(std::move(all[i]));
  return chosen;
}

std::string Line(const fs::path& path,
                 size_t taken,
                 size_t all,
                 const std::string& metric,
                 const LeftOut& left) {
  std::string text = fmt::format(
      "warm start from {}: {} of {} trials by {}", path.string(), taken, all, metric);
  for (const auto& [why, count] : left.trials) {
    text += fmt::format("; {}: {} left out", why, count);
  }
  for (const auto& [name, count] : left.params) {
    text += fmt::format("; {} is none of this search's parameters", name);
  }
  return text;
}

// `place`: where the file names it.
std::string ReadOne(const fs::path& path,
                    const std::string& place,
                    SearchConfig* config) {
  const fs::path dir = path.filename() == "sweep.db" ? path.parent_path() : path;
  RecordedSweep sweep;
  try {
    sweep = ReadSweep(dir);
  } catch (const Error& error) {
    throw ConfigError(fmt::format("{}: {}", place, error.what()));
  }
  if (sweep.config.goal != config->goal) {
    throw ConfigError(fmt::format("{}: {}: its goal is {}, and this search's is {}",
                                  place,
                                  dir.string(),
                                  ToString(sweep.config.goal),
                                  ToString(config->goal)));
  }
  std::vector<HistoryEntry> fitting;
  LeftOut left;
  const std::vector<HistoryEntry> all =
      EndedHistory(*sweep.store, sweep.record.trials, sweep.config);
  for (const HistoryEntry& entry : all) {
    auto mapped = Mapped(config->space, entry, &left);
    if (mapped) fitting.push_back(*std::move(mapped));
  }
  fitting = Chosen(std::move(fitting), config->goal);
  const size_t taken = fitting.size();
  std::vector<HistoryEntry>& known = config->sampler.known;
  std::move(fitting.begin(), fitting.end(), std::back_inserter(known));
  return Line(dir, taken, all.size(), sweep.config.metric_field(), left);
}

bool IsWarm(const HistoryEntry& entry) { return entry.trial == kWarm; }

}  // namespace

std::vector<std::string> ReadWarmStart(SearchConfig* config) {
  std::erase_if(config->sampler.known, IsWarm);
  std::vector<std::string> lines;
  for (size_t i = 0; i < config->warm_start.size(); ++i) {
    lines.push_back(
        ReadOne(config->warm_start[i], config->warm_start_places[i], config));
  }
  return lines;
}

void TakeWarmStart(const SearchConfig& recorded, SearchConfig* config) {
  std::erase_if(config->sampler.known, IsWarm);
  std::ranges::copy_if(
      recorded.sampler.known, std::back_inserter(config->sampler.known), IsWarm);
}

}  // namespace hyperopt
