#include "trial/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

void MergeInto(OrderedJson& target, const OrderedJson& patch) {
  if (!target.is_object() || !patch.is_object()) {
    target = patch;
    return;
  }
  for (const auto& [key, value] : patch.items()) MergeInto(target[key], value);
}

// The feature whose name is the start of `name`, and what of the name follows it. The
// longest one, so that a feature called "a.b" can be addressed too.
struct Route {
  OrderedJson* start;
  std::string_view rest;
};

std::optional<Route> RouteInto(OrderedJson& features, std::string_view name) {
  std::optional<Route> found;
  size_t longest = 0;
  if (!features.is_array()) return found;
  for (OrderedJson& feature : features) {
    if (!feature.is_object() || !feature.contains("name")) continue;
    const OrderedJson& its_name = feature["name"];
    if (!its_name.is_string()) continue;
    const auto& text = its_name.get_ref<const std::string&>();
    const bool starts = name.starts_with(text) &&
                        (name.size() == text.size() || name[text.size()] == '.');
    if (!starts || text.empty() || text.size() <= longest) continue;
    longest = text.size();
    found = Route{&feature, name.substr(std::min(name.size(), text.size() + 1))};
  }
  return found;
}

Route RouteOf(OrderedJson& config, std::string_view name) {
  for (const char* group : {"input_features", "output_features"}) {
    const auto features = config.find(group);
    if (features == config.end()) continue;
    if (const auto route = RouteInto(*features, name)) return *route;
  }
  return {&config, name};
}

void Apply(OrderedJson& config, const std::string& name, const OrderedJson& value) {
  Route route = name == "." ? Route{&config, ""} : RouteOf(config, name);
  OrderedJson* place = route.start;
  std::string_view rest = route.rest;
  while (!rest.empty()) {
    const size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (place->is_null()) *place = OrderedJson::object();
    if (!place->is_object()) {
      throw ConfigError(
          fmt::format("parameter {}: the configuration has {} where a map with the key "
                      "{} is needed",
                      name,
                      DumpJson(*place),
                      key));
    }
    place = &(*place)[key];
    rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  }
  const bool is_root = place == route.start;
  if (is_root && !value.is_object()) {
    throw ConfigError(
        fmt::format("parameter {}: its value {} is merged into a map and must be a map",
                    name,
                    DumpJson(value)));
  }
  MergeInto(*place, value);
}

// nlohmann writes 1e-05, which YAML 1.1 takes for a string.
void Write(const OrderedJson& json, std::string& out) {
  if (json.is_number_float()) {
    const double value = json.get<double>();
    out += std::isfinite(value) ? DoubleToText(value) : QuoteJson(DoubleToText(value));
  } else if (json.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : json.items()) {
      if (!first) out += ',';
      first = false;
      out += QuoteJson(key) + ":";
      Write(value, out);
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    for (size_t i = 0; i < json.size(); ++i) {
      if (i > 0) out += ',';
      Write(json[i], out);
    }
    out += ']';
  } else {
    out += DumpJson(json);
  }
}

}  // namespace

std::string MergeConfig(std::string_view model,
                        const SearchSpace& space,
                        const Params& params) {
  OrderedJson config = ParseJson(model);
  if (!config.is_object()) throw ConfigError("the model's configuration is no map");
  for (const Parameter& parameter : space.parameters()) {
    const auto value = params.find(parameter.name);
    if (value == params.end()) continue;
    Apply(config, parameter.name, ParamValueToJson(value->second));
  }
  std::string out;
  Write(config, out);
  return out;
}

}  // namespace hyperopt
