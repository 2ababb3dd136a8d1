// `--set key=value`: values put into the tree before anything is checked.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "search/internal/config/readers.h"
#include "search/internal/yaml.h"

namespace hyperopt::internal {
namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kParameters = "hyperopt.parameters";

// The entry whose key is the start of `rest`; the longest, since keys have dots too.
Entry* FindStart(Value& map, std::string_view rest) {
  Entry* found = nullptr;
  for (Entry& entry : map.entries) {
    const std::string& key = entry.key;
    const bool starts =
        rest.starts_with(key) && (rest.size() == key.size() || rest[key.size()] == '.');
    if (starts && !key.empty() &&
        (found == nullptr || key.size() > found->key.size())) {
      found = &entry;
    }
  }
  return found;
}

// How much of `rest` is the key of a new entry: to the first dot; a new parameter's
// name has dots itself, and only what sets one key of its space ends in another.
size_t NewKeyLength(std::string_view path, std::string_view rest, const Value& value) {
  if (path != kParameters) return std::min(rest.find('.'), rest.size());
  return value.is_map() ? rest.size() : std::min(rest.rfind('.'), rest.size());
}

Value* FindItem(Value& list, std::string_view part) {
  size_t index = 0;
  const auto result = std::from_chars(part.data(), part.data() + part.size(), index);
  const bool whole =
      result.ec == std::errc() && result.ptr == part.data() + part.size();
  return whole && index < list.items.size() ? &list.items[index] : nullptr;
}

// Walks to the place that `key` names and makes the maps that lack on the way. nullptr
// where the way is barred; `path` is then how far it went.
Value* Reach(std::string_view key, const Value& value, Value& root, std::string& path) {
  Value* node = &root;
  std::string_view rest = key;
  for (int depth = 0; !rest.empty(); ++depth) {
    if (depth == kDeepest) return nullptr;
    size_t length = 0;
    if (node->is_list()) {
      length = std::min(rest.find('.'), rest.size());
      node = FindItem(*node, rest.substr(0, length));
      if (node == nullptr) return nullptr;
    } else {
      if (node->is_null()) node->kind = Value::Kind::kMap;
      if (!node->is_map()) return nullptr;
      Entry* entry = FindStart(*node, rest);
      length = entry != nullptr ? entry->key.size() : NewKeyLength(path, rest, value);
      if (length == 0) return nullptr;
      if (entry == nullptr) {
        node->entries.push_back({std::string(rest.substr(0, length)), value.place, {}});
        entry = &node->entries.back();
        entry->value.place = value.place;
      }
      node = &entry->value;
      entry->place = length == rest.size() ? value.place : entry->place;
    }
    path += (path.empty() ? "" : ".") + std::string(rest.substr(0, length));
    if (length < rest.size() && length + 1 == rest.size()) return nullptr;  // "a."
    rest = rest.substr(std::min(length + 1, rest.size()));
  }
  return node;
}

}  // namespace

void ApplyOverride(const Override& override, Value& root, Problems& problems) {
  const int source = problems.AddSource("--set " + override.key);
  const Place place{source, 0, 0};
  auto value = ParseYaml(override.value, source, problems);
  if (!value) return;
  if (value->is_null()) value->place = place;
  if (override.key.empty()) {
    problems.Add(
        place, "", "the key is missing: --set hyperopt.executor.num_samples=50");
    return;
  }
  std::string path;
  Value* target = Reach(override.key, *value, root, path);
  if (target == nullptr) {
    problems.Add(place,
                 "",
                 path.empty() ? "is no dotted name"
                              : fmt::format("nothing can be set below {}", path));
    return;
  }
  *target = *std::move(value);
}

}  // namespace hyperopt::internal
