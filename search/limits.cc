#include "search/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "search/live_settings.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

using Copy = void (*)(const SearchConfig& from, SearchConfig* to);
struct Limit {
  const char* name;
  Copy copy;
};

constexpr Limit kLimits[] = {
    {"num_samples",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.num_samples = from.executor.num_samples;
       to->sampler.num_samples = from.sampler.num_samples;
     }},
    {"time_budget_s",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.time_budget_s = from.executor.time_budget_s;
     }},
    {"max_concurrent_trials",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.max_concurrent_trials = from.executor.max_concurrent_trials;
     }},
    {"max_seconds_per_trial",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.trial_wall_s = from.executor.trial_wall_s;
     }},
    {"max_failures",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.max_failures_exit = from.executor.max_failures_exit;
       to->executor.max_failures_crash = from.executor.max_failures_crash;
     }},
    {"max_lost",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.max_lost = from.executor.max_lost;
     }},
    {"max_initial_failures",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.max_initial_failures = from.executor.max_initial_failures;
     }},
    {"cpu_resources_per_trial",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.resources.cpus = from.executor.resources.cpus;
     }},
    {"gpu_resources_per_trial",
     [](const SearchConfig& from, SearchConfig* to) {
       if (!from.executor.gpus_given) return;
       to->executor.gpus_given = true;
       to->executor.resources.gpu_per_rank = from.executor.resources.gpu_per_rank;
       to->executor.resources.hide_gpus = from.executor.resources.hide_gpus;
     }},
    {"memory_per_trial",
     [](const SearchConfig& from, SearchConfig* to) {
       to->executor.resources.memory = from.executor.resources.memory;
     }},
};
constexpr char kGpus[] = "gpus";
constexpr std::string_view kBelow = "hyperopt.executor.";

const Limit* Find(const std::string& name) {
  const auto found = std::ranges::find_if(
      kLimits, [&](const Limit& limit) { return name == limit.name; });
  return found == std::end(kLimits) ? nullptr : &*found;
}

std::string Bare(const std::string& name) {
  return name.starts_with(kBelow) ? name.substr(kBelow.size()) : name;
}

[[noreturn]] void RefuseName(const std::string& name) {
  std::vector<std::string> names = {kGpus};
  for (const Limit& limit : kLimits) names.push_back(limit.name);
  throw ConfigError(
      fmt::format("{} can not be set while a sweep lives; what can: {}. Ways out: edit "
                  "the search file, `hyperopt stop`, and start it again (with --amend "
                  "for other parameters, with --fresh for another search)",
                  name,
                  fmt::join(names, ", ")));
}

std::optional<int64_t> ReadGpus(const std::string& text) {
  if (text == "all" || text == "null") return std::nullopt;
  int64_t number = -1;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw ConfigError(fmt::format(
        "gpus: {} is no number of GPUs; 0 starts nothing new on them, all lifts the "
        "limit",
        text));
  }
  return number;
}

SearchConfig Parsed(const SweepRow& sweep, const LimitTexts& texts) {
  std::vector<Override> overrides;
  for (const auto& [name, text] : texts) {
    if (Find(name) != nullptr) overrides.push_back({std::string(kBelow) + name, text});
  }
  const auto cwd = sweep.origin.find("cwd");
  return ParseConfig(sweep.resolved,
                     "the record",
                     cwd == sweep.origin.end() ? "." : cwd->second,
                     overrides);
}

std::string SettingOf(const SearchConfig& config, const std::string& name) {
  return LiveSetting(ComparedSettings(config), std::string(kBelow) + name);
}

std::string Shown(const std::string& setting) {
  return setting.empty() ? "no limit" : setting;
}

std::string GpusText(const std::string& setting) {
  return setting.empty() ? "all" : setting;
}

OrderedJson SetBefore(const SweepRow& sweep) {
  const std::string text = LiveSetting(sweep.settings, kLiveSet);
  return text.empty() ? OrderedJson::object() : ParseJson(text);
}

LimitTexts TextsOf(const OrderedJson& set) {
  LimitTexts texts;
  for (const auto& [name, entry] : set.items()) {
    texts[name] = entry.at("value").get<std::string>();
  }
  return texts;
}

}  // namespace

SetLimits ReadLimits(const LimitTexts& wanted,
                     const SearchConfig& now,
                     const SweepRow& sweep) {
  LimitTexts texts;
  for (const auto& [name, text] : wanted) texts[Bare(name)] = text;
  const SearchConfig parsed = Parsed(sweep, texts);
  SearchConfig config = now;
  OrderedJson set = SetBefore(sweep);
  SetLimits change;
  const std::string gpus = LiveSetting(sweep.settings, kLiveGpus);
  if (!gpus.empty()) change.gpus = ReadGpus(gpus);
  for (const auto& [name, text] : texts) {
    if (name == kGpus) {
      change.gpus = ReadGpus(text);
      const std::string after = change.gpus ? std::to_string(*change.gpus) : "";
      if (after == gpus) continue;
      change.lines.push_back(
          fmt::format("gpus: {} -> {}", GpusText(gpus), GpusText(after)));
      continue;
    }
    const Limit* limit = Find(name);
    if (limit == nullptr) RefuseName(name);
    const std::string before = SettingOf(config, name);
    limit->copy(parsed, &config);
    const std::string after = SettingOf(config, name);
    set[name] = {{"value", text},
                 {"file", LiveSetting(sweep.settings, std::string(kBelow) + name)}};
    change.samples_changed |= name == kLimits[0].name;
    if (before == after) continue;
    change.lines.push_back(
        fmt::format("{}: {} -> {}", name, Shown(before), Shown(after)));
  }
  change.executor = config.executor;
  change.num_samples = config.sampler.num_samples;
  if (!set.empty()) change.live_set = DumpJson(set);
  return change;
}

std::vector<std::string> ApplyLimits(SweepRow* sweep, SearchConfig* config) {
  OrderedJson set = SetBefore(*sweep);
  if (set.empty()) return {};
  std::vector<std::string> lines;
  const LimitTexts all = TextsOf(set);
  LimitTexts texts;
  for (const auto& [name, text] : all) {
    const std::string file = set[name].at("file").get<std::string>();
    if (SettingOf(*config, name) == file) {
      texts[name] = text;
      continue;
    }
    set.erase(name);
    lines.push_back(fmt::format(
        "{}: the search file was edited and wins over what was set ({})", name, text));
  }
  const SearchConfig parsed = Parsed(*sweep, texts);
  for (const auto& [name, text] : texts) {
    if (const Limit* limit = Find(name)) limit->copy(parsed, config);
  }
  SetLive(kLiveSet, set.empty() ? "" : DumpJson(set), &sweep->settings);
  return lines;
}

}  // namespace hyperopt
