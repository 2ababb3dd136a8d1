#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "executors/keeper.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"
#include "trial/state.h"

namespace hyperopt {
namespace {

std::string Optional(const std::optional<int32_t>& value) {
  return value ? std::to_string(*value) : "null";
}

std::optional<int32_t> OptionalOf(const OrderedJson& json, const char* name) {
  const OrderedJson& value = json.at(name);
  if (value.is_null()) return std::nullopt;
  return value.get<int32_t>();
}

ExitInfo InfoOf(const OrderedJson& json) {
  ExitInfo info;
  info.exit_code = OptionalOf(json, "exit_code");
  info.signal = OptionalOf(json, "signal");
  info.started = json.at("started").get<bool>();
  info.lost = json.at("lost").get<bool>();
  info.error = json.at("error").get<std::string>();
  if (!json.at("asked").is_null()) {
    info.asked = ReasonFromString(json.at("asked").get<std::string>());
  }
  info.wall_limit = json.at("wall_limit").get<bool>();
  info.host_memory = json.at("host_memory").get<bool>();
  info.device_memory = json.at("device_memory").get<bool>();
  info.wall_s = json.at("wall_s").get<double>();
  info.peak_memory = json.at("peak_memory").get<int64_t>();
  info.ended_wall = json.at("ended").get<double>();
  info.last_words = json.at("last_words").get<std::string>();
  return info;
}

}  // namespace

std::string TokenFor(const std::string& sweep_id, const RunKey& key) {
  return fmt::format(
      "{}-{}-{}-{}", sweep_id, key.trial.value(), key.run.value(), key.attempt.value());
}

// By hand: it is written once a trial, and a JSON tree would be most of its cost.
std::string ExitInfoToJson(const ExitInfo& info) {
  return fmt::format(
      "{{\"exit_code\":{},\"signal\":{},\"started\":{},\"lost\":{},\"error\":{},"
      "\"asked\":{},\"wall_limit\":{},\"host_memory\":{},\"device_memory\":{},"
      "\"wall_s\":{},\"peak_memory\":{},\"ended\":{},\"last_words\":{}}}\n",
      Optional(info.exit_code),
      Optional(info.signal),
      info.started,
      info.lost,
      QuoteJson(info.error),
      info.asked ? QuoteJson(ToString(*info.asked)) : "null",
      info.wall_limit,
      info.host_memory,
      info.device_memory,
      info.wall_s,
      info.peak_memory,
      info.ended_wall,
      QuoteJson(info.last_words));
}

std::optional<ExitInfo> ReadExitJson(const std::filesystem::path& dir) {
  const std::optional<std::string> text = ReadFile(dir / "exit.json");
  if (!text) return std::nullopt;
  try {
    return InfoOf(ParseJson(*text));
  } catch (const ConfigError&) {
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

}  // namespace hyperopt
