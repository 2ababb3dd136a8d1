#include "search/live_settings.h"

namespace hyperopt {

Settings SettingsBelow(const Settings& settings, std::string_view prefix) {
  const auto from = settings.lower_bound(std::string(prefix));
  auto to = from;
  while (to != settings.end() && to->first.starts_with(prefix)) ++to;
  return Settings(from, to);
}

std::string LiveSetting(const Settings& settings, std::string_view name) {
  const auto found = settings.find(std::string(name));
  return found == settings.end() ? "" : found->second;
}

void SetLive(std::string_view name, const std::string& value, Settings* settings) {
  if (value.empty()) {
    settings->erase(std::string(name));
  } else {
    (*settings)[std::string(name)] = value;
  }
}

}  // namespace hyperopt
