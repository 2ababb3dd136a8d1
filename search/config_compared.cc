// A search file compared with another, setting by setting: what an edit means.
#include <array>
#include <nlohmann/json.hpp>

#include "search/config.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// Settings whose change makes trials of one search incomparable, or that decide what is
// proposed next. A name stands for itself and all below it.
constexpr std::array<std::string_view, 15> kRefused = {
    "command",
    "dataset",
    "workdir",
    "read",
    "model",
    "hyperopt.goal",
    "hyperopt.metric",
    "hyperopt.output_feature",
    "hyperopt.split",
    "hyperopt.value",
    "hyperopt.parameters",
    "hyperopt.constraints",
    "hyperopt.objectives",
    "hyperopt.repeats",
    "hyperopt.search_alg",
};
constexpr std::string_view kScheduler = "hyperopt.executor.scheduler";

bool IsBelow(std::string_view setting, std::string_view name) {
  return setting.starts_with(name) &&
         (setting.size() == name.size() || setting[name.size()] == '.');
}

void Put(std::map<std::string, std::string>& settings,
         const std::string& name,
         const OrderedJson& value) {
  settings[name] = DumpJson(value);
}

void PutEach(std::map<std::string, std::string>& settings,
             const std::string& prefix,
             const OrderedJson& map) {
  for (const auto& [key, value] : map.items()) {
    Put(settings, prefix + "." + key, value);
  }
}

}  // namespace

std::map<std::string, std::string> ComparedSettings(const SearchConfig& config) {
  std::map<std::string, std::string> settings;
  OrderedJson resolved = ParseJson(ResolvedJson(config));
  for (const char* key : {"command",
                          "dataset",
                          "workdir",
                          "env",
                          "keep_env",
                          "read",
                          "hooks",
                          "loggers",
                          "keep",
                          "setup",
                          "wrapper",
                          "container",
                          "tracker",
                          "ranks",
                          "backend"}) {
    if (resolved.contains(key)) Put(settings, key, resolved[key]);
  }
  PutEach(settings, "model", ParseJson(config.model));
  OrderedJson& hyperopt = resolved["hyperopt"];
  // What warm_start led to when the sweep began is no setting.
  hyperopt["search_alg"].erase("known");
  for (const auto& [key, value] : hyperopt.items()) {
    if (key == "parameters" || key == "search_alg" || key == "executor") {
      PutEach(settings, "hyperopt." + key, value);
    } else {
      Put(settings, "hyperopt." + key, value);
    }
  }
  // Values merge in the order of the parameters, so it is a setting as well.
  OrderedJson order = OrderedJson::array();
  for (const Parameter& parameter : config.space.parameters()) {
    order.push_back(parameter.name);
  }
  Put(settings, "hyperopt.parameters", order);
  return settings;
}

OnChange WhatAChangeMeans(const std::string& setting) {
  for (const std::string_view name : kRefused) {
    if (IsBelow(setting, name)) return OnChange::kRefused;
  }
  return IsBelow(setting, kScheduler) ? OnChange::kRefused : OnChange::kApplies;
}

}  // namespace hyperopt
