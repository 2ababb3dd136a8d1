// What was changed while a sweep lived and holds after a restart. It stands among the
// record's settings (SweepRow::settings) under names that no search file has.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hyperopt {

inline constexpr std::string_view kLive = "live.";
// "true" while the sweep is paused.
inline constexpr std::string_view kLivePaused = "live.paused";
// At most so many GPUs are used; absent: all there are.
inline constexpr std::string_view kLiveGpus = "live.gpus";
// JSON: {"max_concurrent_trials": {"value": 1, "file": 8}}, `file` as the search file
// said when it was set: a later edit of the file there wins.
inline constexpr std::string_view kLiveSet = "live.set";
// One an era (proposals.h), numbered from 1.
inline constexpr std::string_view kLiveEra = "live.era.";
// The newest answers, "live.answer.<event>.<token>": a request that is repeated because
// its answer was lost is answered and not done again.
inline constexpr std::string_view kLiveAnswer = "live.answer.";

using Settings = std::map<std::string, std::string>;

// Those whose name begins with `prefix`.
Settings SettingsBelow(const Settings& settings, std::string_view prefix);
// "" where it is absent.
std::string LiveSetting(const Settings& settings, std::string_view name);
// Sets, or with "" removes.
void SetLive(std::string_view name, const std::string& value, Settings* settings);

}  // namespace hyperopt
