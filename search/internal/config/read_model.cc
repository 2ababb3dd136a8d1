// The top level: where things lie, and all keys that are the model's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

const std::vector<std::string>& OwnKeys() {
  static const std::vector<std::string> keys = {"command",
                                                "name",
                                                "dataset",
                                                "base_config",
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
                                                "backend",
                                                "hyperopt"};
  return keys;
}

bool IsLudwigKey(std::string_view key) {
  constexpr std::array<std::string_view, 10> kKeys = {"input_features",
                                                      "output_features",
                                                      "combiner",
                                                      "trainer",
                                                      "preprocessing",
                                                      "defaults",
                                                      "model_type",
                                                      "random_seed",
                                                      "ludwig_version",
                                                      "adapter"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

std::optional<std::string> ProblemWithName(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 200 ||
      Trim(name) != name || name.starts_with('-')) {
    return "must be a name for a folder: 1 to 200 bytes, no blanks at its ends, no "
           "dash "
           "at its start";
  }
  const bool fits = std::ranges::none_of(
      name, [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; });
  if (fits) return std::nullopt;
  return "must be a name for a folder, so without / and control characters";
}

// The file's stem, or where that says nothing its folder's name.
std::string DefaultName(const std::string& file_name,
                        const std::filesystem::path& folder) {
  std::string name = std::filesystem::path(file_name).stem().string();
  const bool says_nothing =
      name == "search" || name == "config" || name == "model" || name == "hyperopt";
  if (says_nothing && !ProblemWithName(folder.filename().string())) {
    return folder.filename().string();
  }
  return ProblemWithName(name) ? "sweep" : name;
}

// A model key that is only a slip of one of ours. Where ours is there as well, it is
// none; and of short names (`head`, `load`) another letter makes another word.
std::optional<std::string> MeantByModelKey(const std::string& key, const Value& root) {
  if (IsLudwigKey(key)) return std::nullopt;
  const auto near = NearestName(key, OwnKeys());
  if (!near || root.Find(*near) != nullptr) return std::nullopt;
  if (key.size() == near->size() && key.size() < 5) {
    const std::multiset<char> a(key.begin(), key.end());
    const std::multiset<char> b(near->begin(), near->end());
    if (a != b) return std::nullopt;
  }
  return near;
}

// What is wrong with a key of the model's; "" where it is none of our affair.
std::string ProblemWithModelKey(const std::string& key, const Reading& reading) {
  const Value* hyperopt = reading.root.Find("hyperopt");
  if (IsOfLaterVersion(key)) return std::string(kLaterVersion);
  if (!reading.has_command && key == "training") {
    return "a spelling of Ludwig 0.4 and before; write trainer";
  }
  const auto home = SectionOf(key);
  const bool misplaced =
      home && home->starts_with("hyperopt") &&
      (!reading.has_command || key == "executor" || key == "search_alg" ||
       key == "parameters" || key == "repeats" || key == "scheduler") &&
      (hyperopt == nullptr || hyperopt->Find(key) == nullptr);
  if (misplaced) return fmt::format("belongs under {}", *home);
  if (const auto meant = MeantByModelKey(key, reading.root)) {
    return fmt::format(
        "unknown key; did you mean {0}? (Where it is the model's own, "
        "write `{0}: null` beside it)",
        *meant);
  }
  return "";
}

// Ludwig's `trainer` trains; how its ranks are started is `backend.trainer`.
void CheckTrainer(Reading& reading) {
  const Value* trainer = reading.root.Find("trainer");
  if (trainer == nullptr) return;
  for (const Entry& entry : trainer->entries) {
    const auto home = SectionOf(entry.key);
    if (home != "backend.trainer") continue;
    reading.problems.Add(
        entry.place, "trainer." + entry.key, "belongs under backend.trainer");
  }
}

void CheckFeature(const Value& feature, const std::string& path, Reading& reading) {
  if (feature.is_broken()) return;
  if (!feature.is_map()) {
    reading.problems.Add(
        feature.place,
        path,
        fmt::format("must be a map: {{name: ..., type: number}}, not {}",
                    Describe(feature)));
    return;
  }
  for (const char* key : {"name", "type"}) {
    const Value* value = feature.Find(key);
    if (value == nullptr || value->is_null()) {
      reading.problems.Add(feature.place, path, fmt::format("has no {}", key));
    }
  }
}

void CheckFeatures(Section& top, Reading& reading) {
  if (!top.Has("input_features") && !top.Has("output_features")) {
    top.Fail("",
             "there is nothing to run: `command: [...]` runs a program of yours, "
             "`input_features` and `output_features` the built-in trainer");
    return;
  }
  std::set<std::string> names;
  for (const char* group : {"input_features", "output_features"}) {
    const Value* features = top.Take(group);
    if (features == nullptr || !features->is_list() || features->items.empty()) {
      top.Fail(group, "must be a list of at least one feature");
      continue;
    }
    for (size_t i = 0; i < features->items.size(); ++i) {
      const Value& feature = features->items[i];
      const std::string path = fmt::format("{}.{}", group, i);
      CheckFeature(feature, path, reading);
      const Value* name = feature.Find("name");
      if (name == nullptr || !name->is_scalar() || name->is_null()) continue;
      if (names.insert(name->text).second) continue;
      reading.problems.Add(
          name->place,
          path,
          fmt::format("another feature is called {}, too", name->text));
    }
  }
}

}  // namespace

void ReadPlaces(Section& top, const std::string& file_name, Reading& reading) {
  SearchConfig& config = reading.config;
  config.name = DefaultName(file_name, reading.folder);
  if (const Value* name = top.Take("name")) {
    const auto problem = name->is_scalar()
                             ? ProblemWithName(name->text)
                             : std::optional<std::string>("must be a text");
    if (problem) {
      top.Fail("name", *problem);
    } else {
      config.name = name->text;
    }
  }
  if (const auto dataset = top.Text("dataset")) {
    if (dataset->find("://") != dataset->npos) {
      top.Fail("dataset", "tables of other machines are not available in this version");
    }
    config.dataset = (reading.folder / *dataset).lexically_normal();
  }
  if (const auto workdir = top.Text("workdir")) {
    config.workdir = *workdir == "trial" || *workdir == "snapshot"
                         ? *workdir
                         : (reading.folder / *workdir).lexically_normal().string();
  }
}

bool IsOwnKey(std::string_view key) {
  return std::ranges::find(OwnKeys(), key) != OwnKeys().end();
}

bool HasMisspeltCommand(const Value& root) {
  return std::ranges::any_of(root.entries, [&](const Entry& entry) {
    return !IsOwnKey(entry.key) && !IsOfLaterVersion(entry.key) &&
           MeantByModelKey(entry.key, root) == "command";
  });
}

void ReadModel(Section& top, Reading& reading) {
  OrderedJson model = OrderedJson::object();
  for (const Entry& entry : reading.root.entries) {
    if (IsOwnKey(entry.key)) continue;
    const std::string problem = ProblemWithModelKey(entry.key, reading);
    if (!problem.empty()) reading.problems.Add(entry.place, entry.key, problem);
  }
  const bool is_apart = reading.has_command && reading.config.has_base_config;
  for (const Entry& entry : reading.model.entries) {
    const bool is_own =
        IsOwnKey(entry.key) && !(entry.key == "backend" && reading.has_command);
    if (is_own && !is_apart) continue;
    if (HasNonFinite(entry.value)) {
      reading.problems.Note(fmt::format(
          "{} holds NaN or an infinity, which JSON has not: $HYPEROPT_CONFIG will hold "
          "its name as a string",
          entry.key));
    }
    model[entry.key] = ToJson(entry.value);
  }
  reading.config.model = DumpJson(model);
  if (reading.has_command) return;
  CheckTrainer(reading);
  CheckFeatures(top, reading);
}

}  // namespace hyperopt::internal
