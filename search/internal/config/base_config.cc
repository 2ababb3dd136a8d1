// `base_config`: the configuration that a trial's values are merged into, where it is
// kept in a file of its own.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "search/internal/config/readers.h"
#include "search/internal/yaml.h"
#include "trial/fs.h"
#include "trial/json.h"
#include "trial/rng.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

namespace fs = std::filesystem;

// JSON is YAML but for its escapes of characters beyond 16 bits; written anew it has
// none.
std::optional<std::string> JsonAsYaml(const std::string& text,
                                      int source,
                                      Problems& problems) {
  try {
    return DumpJson(ParseJson(text), 2);
  } catch (const ConfigError& error) {
    problems.Add({source, 0, 0}, "", error.what());
    return std::nullopt;
  }
}

std::optional<Value> ReadBaseFile(const fs::path& path, Reading& reading) {
  auto text = ReadInput(path, reading);
  if (!text) return std::nullopt;
  const int source = reading.problems.AddFile(path.string());
  if (path.extension() == ".json") text = JsonAsYaml(*text, source, reading.problems);
  auto base =
      text ? ParseYaml(*text, source, reading.problems) : std::optional<Value>();
  if (base && !base->is_map() && !base->is_broken()) {
    reading.problems.Add(
        base->place,
        "",
        fmt::format("a base configuration is a map of keys, not {}", Describe(*base)));
    return std::nullopt;
  }
  return base;
}

// What `base_config` names, or holds: the record keeps the content in its place.
std::optional<Value> ReadBase(const Entry& entry, Reading& reading) {
  if (entry.value.is_map()) return entry.value;
  if (entry.value.is_broken()) return std::nullopt;
  if (!entry.value.is_string() || entry.value.text.empty()) {
    reading.problems.Add(entry.value.place,
                         entry.key,
                         fmt::format("must be the path of a YAML or JSON file, not {}",
                                     Describe(entry.value)));
    return std::nullopt;
  }
  const fs::path path = (reading.folder / entry.value.text).lexically_normal();
  if (fs::exists(path)) return ReadBaseFile(path, reading);
  reading.problems.Add(
      entry.value.place,
      entry.key,
      fmt::format("there is no file {} (a relative path is taken from the folder of "
                  "the search file)",
                  path.string()));
  return std::nullopt;
}

void Overlay(Value& target, const Value& patch) {
  if (!target.is_map() || !patch.is_map()) {
    target = patch;
    return;
  }
  for (const Entry& entry : patch.entries) {
    const auto same = std::ranges::find(target.entries, entry.key, &Entry::key);
    if (same == target.entries.end()) {
      target.entries.push_back(entry);
    } else {
      Overlay(same->value, entry.value);
    }
  }
}

// Of a base configuration for the built-in trainer.
void KeepModelKeys(Value& base, Problems& problems) {
  for (const Entry& entry : base.entries) {
    if (entry.key == "hyperopt") {
      problems.Note(
          "base_config has a section hyperopt, which is not read: what is searched "
          "stands in the search file");
    } else if (IsOwnKey(entry.key) && entry.key != "backend") {
      problems.Add(entry.place, entry.key, "belongs in the search file");
    }
  }
  std::erase_if(base.entries, [](const Entry& e) { return e.key == "hyperopt"; });
}

// The first part of a dotted name that `map` lacks; "" where the whole is there.
struct Missing {
  std::string key;
  const Value* map = nullptr;
};

Missing MissingPart(const Value& model, std::string_view name) {
  const Value* at = &model;
  while (at != nullptr && at->is_map()) {
    const size_t dot = name.find('.');
    const std::string key(name.substr(0, dot));
    const Value* next = at->Find(key);
    if (next == nullptr) return {key, at};
    if (dot == name.npos) break;
    name = name.substr(dot + 1);
    at = next;
  }
  return {};
}

bool IsRouted(const Value& model, std::string_view name) {
  for (const char* group : {"input_features", "output_features"}) {
    for (const std::string& feature : FeatureNames(model, group)) {
      if (name == feature || name.starts_with(feature + ".")) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> ReadInput(const fs::path& path, Reading& reading) {
  std::string why = path.string() + ": there is no such file";
  try {
    if (auto text = ReadFile(path)) {
      reading.config.inputs[path.string()] = fmt::format("{:016x}", HashText(*text));
      return text;
    }
  } catch (const EnvironmentError& error) {
    why = error.what();
  }
  reading.problems.Add({}, "", why);
  return std::nullopt;
}

void ReadBaseConfig(Value& root, Reading& reading) {
  const Entry* entry = root.FindEntry(kBaseConfig);
  std::optional<Value> base;
  if (entry != nullptr && !entry->value.is_null()) base = ReadBase(*entry, reading);
  if (!base || !base->is_map()) {
    reading.model = root;
    return;
  }
  reading.config.has_base_config = true;
  if (reading.has_command) {
    Value own;
    own.kind = Value::Kind::kMap;
    for (const Entry& each : root.entries) {
      if (!IsOwnKey(each.key) || each.key == "backend") own.entries.push_back(each);
    }
    Overlay(*base, own);
    reading.model = *std::move(base);
    return;
  }
  KeepModelKeys(*base, reading.problems);
  Overlay(*base, root);
  root = *std::move(base);
  reading.model = root;
}

void NoteNewKeys(const std::vector<std::string>& parameters, Reading& reading) {
  if (!reading.config.has_base_config) return;
  for (const std::string& name : parameters) {
    if (name == "." || IsRouted(reading.model, name)) continue;
    const Missing missing = MissingPart(reading.model, name);
    if (missing.map == nullptr) continue;
    std::vector<std::string> known;
    for (const Entry& entry : missing.map->entries) known.push_back(entry.key);
    const auto near = NearestName(missing.key, known);
    reading.problems.Note(fmt::format(
        "hyperopt.parameters.{}: base_config has no {} there, so the value becomes a "
        "new key{}",
        name,
        missing.key,
        near ? fmt::format("; did you mean {}?", *near) : ""));
  }
}

}  // namespace hyperopt::internal
