// What a trial runs: command, env, keep_env.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "trial/command.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

std::vector<std::string> NamesOf(const Reading& reading) {
  // From the file, not from the space: a parameter whose range is wrong is no unknown.
  std::vector<std::string> names;
  const Value* hyperopt = reading.root.Find("hyperopt");
  const Value* parameters =
      hyperopt == nullptr ? nullptr : hyperopt->Find("parameters");
  if (parameters == nullptr) return names;
  for (const Entry& entry : parameters->entries) names.push_back(entry.key);
  return names;
}

std::optional<std::vector<std::string>> WordsOf(Section& top, const Value& command) {
  std::vector<std::string> words;
  bool sound = true;
  for (size_t i = 0; i < command.items.size(); ++i) {
    const Value& item = command.items[i];
    if (item.is_scalar() && !item.is_null()) {
      words.push_back(item.text);
      continue;
    }
    sound = false;
    if (item.is_broken()) continue;
    top.problems().Add(
        item.place,
        fmt::format("command.{}", i),
        fmt::format("must be a word, not {} (an empty word is \"\")", Describe(item)));
  }
  return sound ? std::optional(std::move(words)) : std::nullopt;
}

std::optional<std::vector<std::string>> ReadWords(Section& top) {
  const Value* command = top.Take("command");
  if (command == nullptr) return std::nullopt;
  if (command->is_list()) return WordsOf(top, *command);
  if (!command->is_string()) {
    top.Fail("command",
             fmt::format("must be a list of words, or a text that is split into words, "
                         "not {}",
                         Describe(*command)));
    return std::nullopt;
  }
  try {
    return SplitShellWords(command->text);
  } catch (const ConfigError& error) {
    top.Fail("command", error.what());
    return std::nullopt;
  }
}

// `arg:` renames a parameter in ${args}, so without that word it would do nothing.
void CheckArgNames(const std::vector<std::string>& words, Reading& reading) {
  if (HasArgs(words)) return;
  const Value* parameters = reading.root.Find("hyperopt");
  if (parameters != nullptr) parameters = parameters->Find("parameters");
  for (const auto& [name, arg] : reading.config.arg_names) {
    const Value* place = parameters->Find(name)->Find("arg");
    reading.problems.Add(place->place,
                         fmt::format("hyperopt.parameters.{}.arg", name),
                         "has no effect: the command has no word ${args}");
  }
}

void NoteUnused(const std::vector<std::string>& names, Reading& reading) {
  std::vector<std::string> words = reading.config.command;
  for (const auto& [variable, entry] : reading.config.env) {
    if (!entry.from_host) words.push_back(entry.value);
  }
  // A trial that is handed a file finds all of them there.
  const bool has_file = std::ranges::any_of(words, [](const std::string& word) {
    return word.find("${trial.config}") != word.npos ||
           word.find("${trial.params}") != word.npos ||
           word.find("HYPEROPT_CONFIG") != word.npos ||
           word.find("HYPEROPT_PARAM") != word.npos;
  });
  const auto unused = UnusedParameters(words, names, reading.config.arg_names);
  NoteNewKeys(unused, reading);
  if (unused.empty() || has_file) return;
  reading.problems.Note(
      fmt::format("not in the command: {}; a trial finds {} in $HYPEROPT_PARAMS and "
                  "$HYPEROPT_PARAM_<NAME>",
                  fmt::join(unused, ", "),
                  unused.size() == 1 ? "it" : "them"));
}

bool IsVariableName(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::ranges::all_of(
      name, [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); });
}

std::optional<std::string> ProblemWithVariable(const std::string& name) {
  if (!IsVariableName(name)) return "is no name of an environment variable";
  if (name.starts_with("HYPEROPT_")) return "names that start with HYPEROPT_ are taken";
  if (name == "CUDA_VISIBLE_DEVICES") {
    return "is set for each rank from the devices it was given";
  }
  return std::nullopt;
}

std::optional<EnvEntry> ReadVariable(const Entry& entry,
                                     const std::vector<std::string>& parameters,
                                     Reading& reading) {
  const std::string path = "env." + entry.key;
  const Value& value = entry.value;
  if (value.is_map()) {
    Section section(&value, path, reading.problems);
    const auto from = section.Text("from");
    section.Finish();
    if (from && IsVariableName(*from)) return EnvEntry{*from, true};
    section.Fail(
        "from", "must name a variable of the environment that hyperopt was started in");
    return std::nullopt;
  }
  if (!value.is_scalar() || value.is_null()) {
    if (value.is_broken()) return std::nullopt;
    reading.problems.Add(
        value.place,
        path,
        fmt::format("must be a text or {{from: NAME}}, not {} (an empty "
                    "one is \"\")",
                    Describe(value)));
    return std::nullopt;
  }
  if (const auto problem = ProblemWithTemplate(value.text, parameters)) {
    reading.problems.Add(value.place, path, *problem);
    return std::nullopt;
  }
  return EnvEntry{value.text, false};
}

void ReadKeepEnv(Section& top, Reading& reading) {
  const Value* keep = top.Take("keep_env");
  if (keep == nullptr) return;
  std::vector<const Value*> items;
  if (keep->is_list()) {
    for (const Value& item : keep->items) items.push_back(&item);
  } else {
    items.push_back(keep);
  }
  for (const Value* item : items) {
    std::string bare = item->text;
    std::erase_if(bare, [](char c) { return c == '*' || c == '?'; });
    const bool fits = item->is_string() && !item->text.empty() &&
                      (bare.empty() || IsVariableName("_" + bare));
    if (fits) {
      reading.config.keep_env.push_back(item->text);
    } else {
      reading.problems.Add(item->place,
                           "keep_env",
                           fmt::format("must be names of variables, with * and ? as "
                                       "wildcards (SLURM_*), not {}",
                                       Describe(*item)));
    }
  }
}

// A word with the value of a parameter that takes no part could only be wrong.
void CheckConditional(const std::vector<std::string>& words,
                      Section& top,
                      Reading& reading) {
  for (const Parameter& parameter : reading.config.space.parameters()) {
    if (parameter.when.empty()) continue;
    for (const std::string& word : words) {
      const std::vector<std::string> one = {word}, name = {parameter.name};
      if (HasArgs(one) || !UnusedParameters(one, name).empty()) continue;
      top.Fail(
          "command",
          fmt::format("{} has `when`, so it is not in every trial: ${{args}} hands "
                      "it on where it is, and $HYPEROPT_PARAMS",
                      parameter.name));
    }
  }
}

}  // namespace

void ReadCommand(Section& top, Reading& reading) {
  if (!reading.has_command) {
    for (const auto& [name, arg] : reading.config.arg_names) {
      const Value& parameters = *reading.root.Find("hyperopt")->Find("parameters");
      reading.problems.Add(parameters.Find(name)->Find("arg")->place,
                           fmt::format("hyperopt.parameters.{}.arg", name),
                           "has an effect only with `command`");
    }
    return;
  }
  const auto words = ReadWords(top);
  if (!words) return;
  reading.config.command = *words;
  const auto names = NamesOf(reading);
  if (const auto problem = ProblemWithCommand(*words, names)) {
    top.Fail("command", *problem);
    return;
  }
  CheckConditional(*words, top, reading);
  CheckArgNames(*words, reading);
  NoteUnused(names, reading);
}

void ReadEnvironment(Section& top, Reading& reading) {
  ReadKeepEnv(top, reading);
  const Value* env = top.Take("env");
  if (env == nullptr) return;
  if (!env->is_map()) {
    top.Fail("env",
             fmt::format("must be a map of names to texts, not {}", Describe(*env)));
    return;
  }
  const auto names = NamesOf(reading);
  for (const Entry& entry : env->entries) {
    if (const auto problem = ProblemWithVariable(entry.key)) {
      reading.problems.Add(entry.place, "env." + entry.key, *problem);
    }
    if (auto variable = ReadVariable(entry, names, reading)) {
      reading.config.env[entry.key] = *std::move(variable);
    }
  }
}

}  // namespace hyperopt::internal
