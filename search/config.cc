#include "search/config.h"

#include <fmt/format.h>

#include <system_error>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "search/internal/yaml.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

using internal::Describe;
using internal::Problems;
using internal::Reading;
using internal::Section;
using internal::Value;

std::string TextAt(const Value* map, std::string_view key, std::string otherwise) {
  const Value* value = map == nullptr ? nullptr : map->Find(key);
  return value != nullptr && value->is_scalar() && !value->is_null() ? value->text
                                                                     : otherwise;
}

// Sections of Ludwig 0.4 and before, with what they said in today's words.
void RefuseOldSections(Section& hyperopt) {
  const Value* sampler = hyperopt.value().Find("sampler");
  const Value* scheduler = sampler == nullptr ? nullptr : sampler->Find("scheduler");
  const std::string scheduler_text =
      scheduler == nullptr ? ""
                           : fmt::format(", scheduler: {{type: {}, ...}}",
                                         TextAt(scheduler, "type", "..."));
  hyperopt.Refuse(
      "sampler",
      fmt::format("a spelling of Ludwig 0.4 and before; write search_alg: {{type: "
                  "variant_generator}} and executor: {{num_samples: {}{}}}",
                  TextAt(sampler, "num_samples", "10"),
                  scheduler_text));
  const Value* strategy = hyperopt.value().Find("strategy");
  const std::string type =
      TextAt(strategy, "type", "random") == "grid" ? "grid" : "random";
  hyperopt.Refuse(
      "strategy",
      fmt::format("a spelling of Ludwig 0.3 and before; write search_alg: {{type: {}}} "
                  "and executor: {{num_samples: {}}}",
                  type,
                  TextAt(strategy, "num_samples", "10")));
}

void ReadHyperopt(Section& top, Reading& reading) {
  if (!top.Has("hyperopt")) {
    top.Fail("hyperopt", "the section is missing: it says what is searched");
    return;
  }
  const Value* value = top.Take("hyperopt");
  Section hyperopt(value, "hyperopt", reading.problems);
  if (value == nullptr || !value->is_map()) return;
  ReadObjective(hyperopt, reading);
  ReadParameters(hyperopt, reading);
  ReadExecutor(hyperopt, top, reading);
  ReadSearchAlg(hyperopt, reading);
  ReadRepeats(hyperopt, reading);
  RefuseOldSections(hyperopt);
  hyperopt.Finish();
}

void ReadAll(const std::string& name, Reading& reading) {
  Section top(&reading.root, "", reading.problems);
  ReadPlaces(top, name, reading);
  ReadModel(top, reading);
  ReadHyperopt(top, reading);
  ReadEnvironment(top, reading);
  ReadCommand(top, reading);
  ReadReports(top, reading);
  ReadHooks(top, reading);
  ReadLoggers(top, reading);
  ReadKeep(top, reading);
  ReadSurroundings(top, reading);
}

std::string Joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

ConfigErrors::ConfigErrors(std::vector<std::string> lines)
    : ConfigError(Joined(lines)), lines_(std::move(lines)) {}

std::string_view ToString(LoggerKind kind) {
  return kind == LoggerKind::kMlflow ? "mlflow" : "tensorboard";
}

std::string_view ToString(KeepLogs logs) {
  switch (logs) {
    case KeepLogs::kAll:
      return "all";
    case KeepLogs::kFailed:
      return "failed";
    case KeepLogs::kNone:
      return "none";
  }
  return "all";
}

std::string_view ToString(KeepFolders folders) {
  switch (folders) {
    case KeepFolders::kAll:
      return "all";
    case KeepFolders::kFailed:
      return "failed";
    case KeepFolders::kBest:
      return "best";
  }
  return "all";
}

std::string SearchConfig::metric_field() const {
  if (!command.empty()) return metric;
  return fmt::format("{}.{}.{}", split, output_feature, metric);
}

SearchConfig ParseConfig(const std::string& text,
                         const std::string& name,
                         const std::filesystem::path& folder,
                         const std::vector<Override>& overrides,
                         const std::optional<std::filesystem::path>& dataset) {
  Problems problems(name);
  std::optional<Value> root = internal::ParseYaml(text, 0, problems);
  if (root && !root->is_map() && !root->is_broken()) {
    problems.Add(root->place,
                 "",
                 root->is_null()
                     ? "the file is empty"
                     : fmt::format("must be a map of keys, not {}", Describe(*root)));
    root.reset();
  }
  if (!root || !root->is_map()) throw ConfigErrors(problems.Lines());
  for (const Override& override : overrides) {
    internal::ApplyOverride(override, *root, problems);
  }
  SearchConfig config;
  config.text = text;
  const Value* command = root->Find("command");
  Reading reading{config,
                  problems,
                  *root,
                  (command != nullptr && !command->is_null()) ||
                      internal::HasMisspeltCommand(*root),
                  std::filesystem::absolute(folder).lexically_normal(),
                  {}};
  if (!reading.folder.has_filename()) reading.folder = reading.folder.parent_path();
  internal::ReadBaseConfig(*root, reading);
  internal::ReadListFile(*root, reading);
  ReadAll(name, reading);
  if (dataset) config.dataset = std::filesystem::absolute(*dataset).lexically_normal();
  if (problems.any()) throw ConfigErrors(problems.Lines());
  config.notes = problems.notes();
  return config;
}

SearchConfig LoadConfig(const std::filesystem::path& path,
                        const std::vector<Override>& overrides,
                        const std::optional<std::filesystem::path>& dataset) {
  std::optional<std::string> text;
  try {
    text = ReadFile(path);
  } catch (const EnvironmentError& error) {
    throw ConfigErrors({error.what()});
  }
  if (!text) throw ConfigErrors({path.string() + ": there is no such file"});
  std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  SearchConfig config = ParseConfig(*text, path.string(), folder, overrides, dataset);
  config.file = path;
  return config;
}

}  // namespace hyperopt
