#include "search/commands/change_commands.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "search/change_request.h"
#include "search/commands/change.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/format.h"
#include "search/internal/settings_table.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

int Do(const std::filesystem::path& dir, OrderedJson request) {
  return TellChanged(dir, ChangeSweep(dir, std::move(request)));
}

using internal::GivenSettings;

std::vector<GivenSettings> Wanted(const AddOptions& options, const SearchSpace& space) {
  std::vector<GivenSettings> wanted;
  for (const std::string& text : options.params) {
    try {
      wanted.push_back({ParamsFromJsonText(text), ""});
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format(
          "--params {}: {}; write a JSON object, as --params '{{\"lr\": 0.01}}'",
          text,
          error.what()));
    }
  }
  if (options.csv) {
    std::vector<std::string> notes;
    for (auto& settings : internal::ReadSettingsTable(*options.csv, space, &notes)) {
      wanted.push_back(std::move(settings));
    }
    for (const std::string& note : notes) std::printf("%s\n", Printable(note).c_str());
  }
  return wanted;
}

std::optional<TrialId> FindSame(const Params& params,
                                const std::map<Params, TrialId>& there) {
  const auto same = there.find(params);
  return same == there.end() ? std::nullopt : std::optional(same->second);
}

// By their settings, and by the part of them that was given where the rest was drawn.
std::map<Params, TrialId> TrialsByParams(const RecordedSweep& sweep) {
  std::vector<TrialId> ids;
  for (const TrialRow& row : sweep.record.trials) ids.push_back(row.id);
  const std::vector<Params> params = sweep.store->LoadParams(ids);
  std::map<Params, TrialId> there;
  const int64_t count = std::ssize(params);
  for (size_t i = 0; i < ids.size(); ++i) there.emplace(params[i], ids[i]);
  sweep.store->ForEachEvent(1, [&](const EventRow& event) {
    // One that came since the record was read is not among the trials yet.
    if (event.kind != "added" || !event.trial || event.trial->value() >= count)
      return true;
    Params given = params[static_cast<size_t>(event.trial->value())];
    const OrderedJson detail = ParseJson(event.detail);
    for (const auto& name : detail.value("open", OrderedJson::array())) {
      given.erase(name.get<std::string>());
    }
    there.emplace(std::move(given), *event.trial);
    return true;
  });
  return there;
}

// As CheckGiven; an error names the row of a table.
Params Checked(const SearchSpace& space, const GivenSettings& given) {
  std::vector<std::string> notes;  // the controller's answer has them
  try {
    return CheckGiven(space, given.params, &notes);
  } catch (const ConfigError& error) {
    if (given.place.empty()) throw;
    throw ConfigError(given.place + ": " + error.what());
  }
}

// Without those that a trial has already, which are said: the same line twice, or a
// table that has grown, adds what is new.
std::vector<GivenSettings> OnlyNew(const RecordedSweep& sweep,
                                   std::vector<GivenSettings> wanted) {
  const std::map<Params, TrialId> there = TrialsByParams(sweep);
  std::vector<GivenSettings> fresh;
  std::set<Params> added;
  size_t same_count = 0, repeated = 0;
  std::optional<TrialId> first_same;
  for (GivenSettings& given : wanted) {
    const Params typed = Checked(sweep.config.space, given);
    if (const auto same = FindSame(typed, there)) {
      ++same_count;
      if (!first_same) first_same = same;
      continue;
    }
    if (!added.insert(typed).second) {
      ++repeated;
      continue;
    }
    fresh.push_back(std::move(given));
  }
  if (repeated > 0) {
    std::printf("%zu stand there twice; --again adds them each time\n", repeated);
  }
  if (same_count == 1) {
    std::printf("trial %lld has these already; --again runs them once more\n",
                static_cast<long long>(first_same->value()));
  } else if (same_count > 1) {
    std::printf("%zu are trials already (as %lld); --again runs them once more\n",
                same_count,
                static_cast<long long>(first_same->value()));
  }
  return fresh;
}

}  // namespace

int AddTrialsCommand(const AddOptions& options) {
  const std::filesystem::path dir = SweepDirOf(options.dir);
  const bool settings = !options.params.empty() || options.csv;
  if (settings == options.trials.has_value()) {
    throw ConfigError(
        "add wants settings or a number of trials: --params '{\"lr\": 0.01}', --csv "
        "runs.csv, or --trials 20");
  }
  if (options.trials) return Do(dir, {{"op", "add"}, {"samples", *options.trials}});
  const RecordedSweep sweep = ReadSweep(dir);
  std::vector<GivenSettings> wanted = Wanted(options, sweep.config.space);
  if (!options.again) wanted = OnlyNew(sweep, std::move(wanted));
  if (wanted.empty()) return 0;
  OrderedJson list = OrderedJson::array(), places = OrderedJson::array();
  for (const GivenSettings& given : wanted) {
    list.push_back(ParamsToJson(given.params));
    if (!given.place.empty()) places.push_back(given.place);
  }
  OrderedJson request = {{"op", "add"}, {"params", std::move(list)}};
  // Words and a table together: trials are named by their numbers.
  if (places.size() == wanted.size()) request["places"] = std::move(places);
  return Do(dir, std::move(request));
}

int StopTrialsCommand(const StopTrialsOptions& options) {
  return Do(SweepDirOf(options.dir),
            {{"op", "stop trials"}, {"trials", options.trials}});
}

int PauseCommand(const PauseOptions& options) {
  return Do(SweepDirOf(options.dir), {{"op", "pause"}, {"paused", options.paused}});
}

int SetCommand(const SetOptions& options) {
  OrderedJson limits = OrderedJson::object();
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ConfigError(fmt::format(
          "set {}: write name=value, as in max_concurrent_trials=1 gpus=0", setting));
    }
    limits[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return Do(SweepDirOf(options.dir), {{"op", "set"}, {"limits", std::move(limits)}});
}

}  // namespace hyperopt
