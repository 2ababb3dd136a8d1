// hyperopt.parameters: their names, their spaces and `arg:`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "trial/merge.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

constexpr std::string_view kPath = "hyperopt.parameters";

// The sections of a Ludwig model config that a dotted name can lead into.
const std::vector<std::string>& ModelSections() {
  static const std::vector<std::string> sections = {
      "trainer", "combiner", "preprocessing", "defaults", "model_type", "adapter"};
  return sections;
}

// The part of HYPEROPT_PARAM_<NAME>.
std::string EnvName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return out;
}

std::optional<std::string> ProblemWithSpelling(const std::string& name) {
  if (name == ".") return std::nullopt;
  if (name.empty() || name.starts_with('.') || name.ends_with('.') ||
      name.find("..") != name.npos) {
    return "a name of dotted parts needs text in each part (\".\" alone is the patch "
           "of "
           "the whole)";
  }
  for (const char* prefix : {"trial.", "sweep.", "config.", "env."}) {
    if (!name.starts_with(prefix)) continue;
    return fmt::format(
        "no parameter may start with {}: ${{{}}} is taken", prefix, name);
  }
  if (name == "args" || name.starts_with("args:")) {
    return "no parameter may be called args: ${args} is taken";
  }
  if (Trim(name) != name || name.find_first_of("{}=\n\r\t") != name.npos) {
    return "a name has no { } = and no blanks at its ends";
  }
  return std::nullopt;
}

// With the built-in trainer a name leads into the model's config.
std::optional<std::string> ProblemWithRoute(const std::string& name,
                                            const Reading& reading) {
  if (name == "." || reading.has_command) return std::nullopt;
  const std::string first = name.substr(0, name.find('.'));
  if (first == "training") {
    return fmt::format("a spelling of Ludwig 0.4 and before; write trainer{}",
                       name.substr(first.size()));
  }
  std::vector<std::string> starts = ModelSections();
  for (const char* group : {"input_features", "output_features"}) {
    for (std::string& feature : FeatureNames(reading.root, group)) {
      if (name == feature || name.starts_with(feature + ".")) return std::nullopt;
      starts.push_back(std::move(feature));
    }
  }
  // Without any feature the file lacks more than this name, and that is told.
  if (starts.size() == ModelSections().size()) return std::nullopt;
  if (std::ranges::find(starts, first) != starts.end()) return std::nullopt;
  if (const auto section = ModelSectionOf(first)) {
    return fmt::format("leads nowhere; did you mean {}.{}?", *section, name);
  }
  const auto near = NearestName(first, starts);
  return fmt::format(
      "leads nowhere: {} is neither a section of the model nor a feature{}",
      first,
      near ? fmt::format("; did you mean {}{}?", *near, name.substr(first.size()))
           : "");
}

// `arg: lr`, `arg: null`.
void ReadArg(const Entry& parameter, const std::string& path, Reading& reading) {
  const Value* arg = parameter.value.Find("arg");
  if (arg == nullptr || arg->is_broken()) return;
  const std::string arg_path = path + ".arg";
  auto& names = reading.config.arg_names;
  if (arg->is_null()) {
    names[parameter.key] = std::nullopt;
    return;
  }
  if (!arg->is_string() || arg->text.empty() || Trim(arg->text) != arg->text ||
      arg->text.starts_with('-') || arg->text.find('=') != arg->text.npos) {
    reading.problems.Add(
        arg->place,
        arg_path,
        fmt::format("must be the name for ${{args}} without dashes (arg: lr gives "
                    "--lr=value), or null to leave the parameter out; it is {}",
                    Describe(*arg)));
    return;
  }
  names[parameter.key] = arg->text;
}

// A patch of the whole configuration is a choice among partial configurations.
void CheckPatch(const Entry& parameter, const Domain& domain, Reading& reading) {
  if (parameter.key != ".") return;
  const bool is_list = std::holds_alternative<CategoricalDomain>(domain) ||
                       std::holds_alternative<GridDomain>(domain);
  if (!is_list) {
    reading.problems.Add(
        parameter.value.place,
        "hyperopt.parameters..",
        "\".\" patches the whole configuration: its space is choice (or "
        "grid_search) among maps");
    return;
  }
  const Value* list = parameter.value.Find(
      std::holds_alternative<CategoricalDomain>(domain) ? "categories" : "values");
  for (const Value& item : list->items) {
    if (item.is_map()) continue;
    reading.problems.Add(
        item.place,
        "hyperopt.parameters..",
        fmt::format("each value of \".\" is a map of model keys, not {}",
                    Describe(item)));
  }
}

// Two names that become one variable, or one word of ${args}.
void CheckCollisions(const Value& map, Reading& reading) {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> words;
  for (const Entry& parameter : map.entries) {
    const std::string path = fmt::format("{}.{}", kPath, parameter.key);
    const auto [first, is_new] =
        variables.emplace(EnvName(parameter.key), parameter.key);
    if (!is_new) {
      reading.problems.Add(
          parameter.place,
          path,
          fmt::format("{} and {} would both be $HYPEROPT_PARAM_{}; rename one",
                      first->second,
                      parameter.key,
                      first->first));
    }
    const auto arg = reading.config.arg_names.find(parameter.key);
    const bool renamed = arg != reading.config.arg_names.end();
    if (renamed && !arg->second) continue;
    const std::string word = renamed ? *arg->second : parameter.key;
    const auto [other, is_new_word] = words.emplace(word, parameter.key);
    if (is_new_word) continue;
    reading.problems.Add(parameter.place,
                         path,
                         fmt::format("{} and {} would both be --{} in ${{args}}",
                                     other->second,
                                     parameter.key,
                                     word));
  }
}

// Whether the values can be merged into the model at all, tried with one of each.
void CheckMerge(Reading& reading) {
  Params params;
  for (const Parameter& parameter : reading.config.space.parameters()) {
    params[parameter.name] = FromUnit(parameter.domain, 0.5);
  }
  try {
    MergeConfig(reading.config.model, reading.config.space, params);
  } catch (const ConfigError& error) {
    const Value* hyperopt = reading.root.Find("hyperopt");
    reading.problems.Add(hyperopt->Find("parameters")->place, kPath, error.what());
  }
}

void ReadParameter(const Entry& parameter,
                   std::vector<Parameter>& parameters,
                   Reading& reading) {
  const std::string path = fmt::format("{}.{}", kPath, parameter.key);
  auto problem = ProblemWithSpelling(parameter.key);
  if (!problem) problem = ProblemWithRoute(parameter.key, reading);
  if (problem) reading.problems.Add(parameter.place, path, *problem);
  ReadArg(parameter, path, reading);
  auto domain = ReadDomain(parameter.value, path, reading);
  if (!domain) return;
  CheckPatch(parameter, *domain, reading);
  parameters.push_back({parameter.key, *std::move(domain)});
}

// They stand under a name that is nearly `parameters`, or at the top level: that is
// told of there.
bool AreElsewhere(const Section& hyperopt, const Reading& reading) {
  constexpr std::string_view kName = "parameters";
  if (reading.root.Find(kName) != nullptr) return true;
  const std::vector<std::string> known = {std::string(kName)};
  return std::ranges::any_of(hyperopt.value().entries, [&](const Entry& entry) {
    return entry.key != kName && NearestName(entry.key, known).has_value();
  });
}

}  // namespace

std::vector<std::string> FeatureNames(const Value& root, std::string_view group) {
  std::vector<std::string> names;
  const Value* features = root.Find(group);
  if (features == nullptr) return names;
  for (const Value& feature : features->items) {
    const Value* name = feature.Find("name");
    if (name != nullptr && name->is_scalar() && !name->is_null()) {
      names.push_back(name->text);
    }
  }
  return names;
}

void ReadParameters(Section& hyperopt, Reading& reading) {
  hyperopt.Ignore("constraints");
  const Value* map = hyperopt.Take("parameters");
  if (map == nullptr && AreElsewhere(hyperopt, reading)) return;
  if (map == nullptr || (map->is_map() && map->entries.empty())) {
    hyperopt.Fail("parameters",
                  "there is nothing to search: name at least one parameter, such as "
                  "learning_rate: {space: loguniform, lower: 1e-5, upper: 0.1}");
    return;
  }
  if (!map->is_map()) {
    hyperopt.Fail(
        "parameters",
        fmt::format("must be a map of names to spaces, not {}", Describe(*map)));
    return;
  }
  std::vector<Parameter> parameters;
  for (const Entry& parameter : map->entries) {
    ReadParameter(parameter, parameters, reading);
  }
  if (reading.has_command) CheckCollisions(*map, reading);
  if (parameters.size() != map->entries.size()) return;
  // A name that no space takes (an empty one) has been told above.
  if (map->Find("") != nullptr) return;
  SettleSpace(*map, std::move(parameters), hyperopt, reading);
  CheckMerge(reading);
}

}  // namespace hyperopt::internal
