// `read`: where reports come from besides $HYPEROPT_REPORT.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "search/internal/config/readers.h"
#include "trial/read_source.h"

namespace hyperopt::internal {
namespace {

// std::regex compiles by recursion.
constexpr size_t kLongestRegex = 1000;

constexpr std::pair<const char*, ReadKind> kFileKinds[] = {
    {"csv", ReadKind::kCsv},
    {"jsonl", ReadKind::kJsonLines},
    {"tensorboard", ReadKind::kTensorboard},
};

void ReadPattern(const Entry& entry,
                 const std::string& path,
                 Problems& problems,
                 ReadSource& source) {
  const Value& value = entry.value;
  if (value.is_broken()) return;
  if (entry.key.empty()) problems.Add(entry.place, path, "the field needs a name");
  if (!value.is_string() || value.text.empty() || value.text.size() > kLongestRegex) {
    problems.Add(
        value.place,
        path,
        fmt::format("must be a regular expression of at most {} characters, not {}",
                    kLongestRegex,
                    Describe(value)));
    return;
  }
  try {
    const std::regex compiled(value.text, std::regex::ECMAScript);
    source.patterns.emplace_back(entry.key, value.text);
  } catch (const std::regex_error& error) {
    problems.Add(
        value.place,
        path,
        fmt::format("is no regular expression (ECMAScript): {}", error.what()));
  }
}

std::optional<ReadSource> ReadOutput(Section& read) {
  const Value* output = read.Take("output");
  if (output == nullptr) return std::nullopt;
  ReadSource source;
  if (output->is_map()) {
    source.kind = ReadKind::kPatterns;
    for (const Entry& entry : output->entries) {
      ReadPattern(
          entry, read.PathOf("output") + "." + entry.key, read.problems(), source);
    }
    if (output->entries.empty()) read.Fail("output", "names no field");
    return source;
  }
  if (output->is_string() && output->text == "dicts") {
    source.kind = ReadKind::kDicts;
    return source;
  }
  read.Fail("output",
            fmt::format("must be `dicts`, or a map of fields to regular expressions: "
                        "{{loss: 'loss=(\\S+)'}}, not {}",
                        Describe(*output)));
  return std::nullopt;
}

std::optional<ReadSource> ReadFiles(Section& read, const char* key, ReadKind kind) {
  const std::optional<std::string> glob = read.Text(key);
  if (!glob) return std::nullopt;
  if (const auto problem = ProblemWithGlob(*glob)) {
    read.Fail(key, *problem);
    return std::nullopt;
  }
  ReadSource source;
  source.kind = kind;
  source.glob = *glob;
  return source;
}

std::map<std::string, std::string> ReadRename(Section& read) {
  std::map<std::string, std::string> names;
  const Value* rename = read.Take("rename");
  if (rename == nullptr) return names;
  if (!rename->is_map()) {
    read.Fail("rename",
              fmt::format("must be a map, {{NAME AS WRITTEN: NAME}}, not {}",
                          Describe(*rename)));
    return names;
  }
  for (const Entry& entry : rename->entries) {
    if (entry.value.is_string() && !entry.value.text.empty()) {
      names[entry.key] = entry.value.text;
    } else if (!entry.value.is_broken()) {
      read.problems().Add(
          entry.value.place,
          read.PathOf("rename") + "." + entry.key,
          fmt::format("must be the name of a field, not {}", Describe(entry.value)));
    }
  }
  return names;
}

void ReadOne(const Value& value, const std::string& path, Reading& reading) {
  Section read(&value, path, reading.problems);
  std::vector<ReadSource> sources;
  if (auto output = ReadOutput(read)) sources.push_back(*std::move(output));
  for (const auto& [key, kind] : kFileKinds) {
    if (auto files = ReadFiles(read, key, kind)) sources.push_back(*std::move(files));
  }
  const auto names = ReadRename(read);
  bool has_use = names.empty();
  for (ReadSource& source : sources) {
    if (source.kind == ReadKind::kPatterns) continue;
    source.rename = names;
    has_use = true;
  }
  if (!has_use && !sources.empty()) {
    read.Fail("rename", "has no effect: `output` names its fields itself");
  }
  const bool asks = read.Has("output") || read.Has("csv") || read.Has("jsonl") ||
                    read.Has("tensorboard");
  if (value.is_map() && !asks) {
    read.Fail("output", "one of output, csv, jsonl, tensorboard is needed");
  }
  read.Finish();
  for (ReadSource& source : sources) reading.config.read.push_back(std::move(source));
}

// Whether anything leads the program to its trial's folder.
bool WritesToOwnFolder(const SearchConfig& config) {
  if (config.workdir == "trial") return true;
  std::vector<std::string> words = config.command;
  for (const auto& [name, entry] : config.env) words.push_back(entry.value);
  return std::ranges::any_of(words, [](const std::string& word) {
    return word.find("${trial.dir}") != word.npos ||
           word.find("HYPEROPT_TRIAL_DIR") != word.npos;
  });
}

void NoteFolder(const Reading& reading) {
  if (WritesToOwnFolder(reading.config)) return;
  for (const ReadSource& source : reading.config.read) {
    if (!IsOfFiles(source.kind)) continue;
    reading.problems.Note(
        fmt::format("read.{}: {} is looked for in each trial's own folder, and nothing "
                    "here leads the program there: unless it writes to "
                    "$HYPEROPT_TRIAL_DIR by itself, set `workdir: trial`, or hand it "
                    "${{trial.dir}}",
                    KeyOf(source.kind),
                    source.glob));
    return;
  }
}

}  // namespace

void ReadReports(Section& top, Reading& reading) {
  const Value* value = top.Take("read");
  if (value == nullptr) return;
  if (!reading.has_command) {
    top.Fail("read", "has an effect only with `command`");
    return;
  }
  if (!value->is_list()) ReadOne(*value, "read", reading);
  for (size_t i = 0; i < value->items.size(); ++i) {
    ReadOne(value->items[i], fmt::format("read.{}", i), reading);
  }
  NoteFolder(reading);
}

}  // namespace hyperopt::internal
