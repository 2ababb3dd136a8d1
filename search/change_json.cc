#include "search/change_json.h"

#include <nlohmann/json.hpp>

#include "search/limits.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

AddTrials ReadParams(const OrderedJson& request) {
  const OrderedJson& list = request.at("params");
  AddTrials add;
  for (const OrderedJson& entry : list) {
    if (!entry.is_object()) throw ConfigError("`params` must be a list of objects");
    Params params;
    for (const auto& [name, value] : entry.items()) {
      params[name] = ParamValueFromJson(value);
    }
    add.params.push_back(std::move(params));
  }
  if (request.contains("places")) {
    add.places = request["places"].get<std::vector<std::string>>();
  }
  if (!add.places.empty() && add.places.size() != add.params.size()) {
    throw ConfigError("`places` must be as many as `params`");
  }
  return add;
}

StopTrials ReadTrials(const OrderedJson& list) {
  StopTrials stop;
  for (const OrderedJson& id : list) stop.trials.push_back(TrialId(id.get<int64_t>()));
  return stop;
}

std::optional<ChangeRequest> Read(const OrderedJson& request,
                                  const SearchConfig& now,
                                  const SweepRow& sweep) {
  const std::string op = request.at("op").get<std::string>();
  ChangeRequest change;
  if (op == "add" && request.contains("samples")) {
    change.what = AddSamples{request["samples"].get<int64_t>()};
  } else if (op == "add") {
    change.what = ReadParams(request);
  } else if (op == "stop trials") {
    change.what = ReadTrials(request.at("trials"));
  } else if (op == "pause") {
    change.what = SetPaused{request.at("paused").get<bool>()};
  } else if (op == "set") {
    change.what = ReadLimits(request.at("limits").get<LimitTexts>(), now, sweep);
  } else {
    return std::nullopt;
  }
  change.token = request.at("token").get<std::string>();
  if (change.token.empty()) throw ConfigError("`token` must not be empty");
  return change;
}

}  // namespace

std::optional<ChangeRequest> ChangeFromJson(const OrderedJson& request,
                                            const SearchConfig& now,
                                            const SweepRow& sweep) {
  try {
    return Read(request, now, sweep);
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(std::string("the request can not be read: ") + error.what());
  }
}

}  // namespace hyperopt
