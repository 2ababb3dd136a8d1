#include "trial/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trial/errors.h"
#include "trial/internal/arg_words.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr std::string_view kArgs = "args";
constexpr std::string_view kArgsPrefix = "args:";
constexpr std::string_view kEnvPrefix = "env.";
// Linux's MAX_ARG_STRLEN, less the NUL at the end.
constexpr size_t kLongestWord = 128 * 1024 - 1;

constexpr std::array<std::string_view, 9> kNames = {"trial.id",
                                                    "trial.dir",
                                                    "trial.attempt",
                                                    "trial.seed",
                                                    "trial.budget",
                                                    "trial.params",
                                                    "trial.config",
                                                    "sweep.name",
                                                    "config.dir"};

// A template in parts: literal text, or the name inside a ${...}.
struct Piece {
  bool is_place = false;
  std::string_view text;
};

struct Pieces {
  std::vector<Piece> pieces;
  bool unclosed = false;
};

Pieces Split(std::string_view text) {
  Pieces out;
  const auto add = [&out](bool is_place, std::string_view piece) {
    if (is_place || !piece.empty()) out.pieces.push_back({is_place, piece});
  };
  size_t start = 0;
  size_t at = text.find("${");
  for (; at != text.npos; at = text.find("${", at)) {
    if (at > start && text[at - 1] == '$') {  // $${ is a literal ${
      add(false, text.substr(start, at - 1 - start));
      start = at;
      at += 2;
      continue;
    }
    add(false, text.substr(start, at - start));
    const size_t end = text.find('}', at);
    if (end == text.npos) {
      out.unclosed = true;
      return out;
    }
    add(true, text.substr(at + 2, end - at - 2));
    start = at = end + 1;
  }
  add(false, text.substr(start));
  return out;
}

bool IsNamed(std::string_view place) {
  return std::find(kNames.begin(), kNames.end(), place) != kNames.end();
}

bool IsParameter(std::string_view place, std::span<const std::string> parameters) {
  return std::find(parameters.begin(), parameters.end(), place) != parameters.end();
}

std::string UnknownPlace(std::string_view place,
                         std::span<const std::string> parameters) {
  std::vector<std::string> known(parameters.begin(), parameters.end());
  known.insert(known.end(), kNames.begin(), kNames.end());
  known.emplace_back(kArgs);
  std::string text =
      fmt::format("${{{}}} is neither a parameter nor a known name", place);
  if (const auto near = NearestName(place, known)) {
    return text + fmt::format("; did you mean ${{{}}}?", *near);
  }
  return text + fmt::format(" ($${{{0}}} stands for a literal ${{{0}}})", place);
}

std::optional<std::string> ProblemWithPlace(std::string_view place,
                                            std::span<const std::string> parameters) {
  if (IsNamed(place) || IsParameter(place, parameters)) return std::nullopt;
  if (place.starts_with(kEnvPrefix)) {
    if (place.size() > kEnvPrefix.size()) return std::nullopt;
    return "${env.} lacks the name of a variable: ${env.HOME}";
  }
  if (place == kArgs || place.starts_with(kArgsPrefix)) {
    return fmt::format(
        "${{{}}} becomes words of its own, so it must be a whole word of `command`",
        place);
  }
  return UnknownPlace(place, parameters);
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool IsShell(std::string_view word) {
  constexpr std::array<std::string_view, 10> kShells = {
      "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish"};
  return std::find(kShells.begin(), kShells.end(), BaseName(word)) != kShells.end();
}

// The index of the script in `SHELL [options] -c SCRIPT ...`, whose shell is words[at];
// nullopt where there is no -c.
std::optional<size_t> ScriptOfShell(std::span<const std::string> words, size_t at) {
  bool has_c = false;
  for (size_t i = at + 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool is_option = word.size() > 1 && (word[0] == '-' || word[0] == '+');
    if (!is_option || word == "--") {
      if (word == "--") ++i;
      return has_c && i < words.size() ? std::optional(i) : std::nullopt;
    }
    if (word.starts_with("--")) {
      if (word == "--rcfile" || word == "--init-file") ++i;
      continue;
    }
    if (word.find('c') != word.npos) has_c = true;
    if (word.find_first_of("oO") != word.npos) ++i;  // -o pipefail
  }
  return std::nullopt;
}

std::optional<std::string> ProblemWithShells(std::span<const std::string> words,
                                             std::span<const std::string> parameters) {
  for (size_t at = 0; at < words.size(); ++at) {
    if (!IsShell(words[at])) continue;
    const auto script = ScriptOfShell(words, at);
    if (!script) continue;
    for (const Piece& piece : Split(words[*script]).pieces) {
      if (!piece.is_place || !IsParameter(piece.text, parameters)) continue;
      return fmt::format(
          "${{{0}}} stands inside the script of {1} -c, where the shell would run what "
          "its value holds; write \"$1\" there and the parameter as a word after the "
          "script: [{1}, -c, 'train --x \"$1\"', {1}, \"${{{0}}}\"]",
          piece.text,
          BaseName(words[at]));
    }
  }
  return std::nullopt;
}

// The inside of a word that is `${args}` or `${args:...}` and nothing else.
std::optional<std::string_view> ArgsPlace(std::string_view word) {
  if (!word.starts_with("${args") || !word.ends_with('}')) return std::nullopt;
  const std::string_view place = word.substr(2, word.size() - 3);
  const bool is_args = place == kArgs || place.starts_with(kArgsPrefix);
  const bool is_whole = place.find('}') == place.npos;
  return is_args && is_whole ? std::optional(place) : std::nullopt;
}

std::string ValueOf(std::string_view place, const TemplateValues& values) {
  if (IsNamed(place)) {
    const auto found = values.names.find(place);
    return found == values.names.end() ? "" : found->second;
  }
  if (place.starts_with(kEnvPrefix)) {
    const std::string_view name = place.substr(kEnvPrefix.size());
    if (values.env) {
      if (auto value = values.env(name)) return *std::move(value);
    }
    throw ConfigError(fmt::format(
        "${{{}}}: the variable {} is not set where hyperopt was started", place, name));
  }
  if (values.params != nullptr) {
    const auto found = values.params->find(std::string(place));
    if (found != values.params->end()) return ToWord(found->second);
  }
  throw ConfigError(fmt::format("${{{}}} has no value", place));
}

void RequireWord(const std::string& word, std::string_view written) {
  if (word.size() > kLongestWord) {
    throw ConfigError(fmt::format(
        "the word {} is {} bytes long with its values, and no program takes over 128 "
        "KiB in one; let the trial read the file that $HYPEROPT_PARAMS names",
        written.substr(0, 60),
        word.size()));
  }
  if (word.find('\0') != word.npos) {
    throw ConfigError(fmt::format(
        "the word {} has a NUL byte, which no program can be given; let the trial read "
        "the file that $HYPEROPT_PARAMS names",
        written.substr(0, 60)));
  }
}

// The parameter's name in ${args}; nullopt where it is left out.
std::optional<std::string> ArgName(const std::string& name, const ArgNames* arg_names) {
  if (arg_names == nullptr) return name;
  const auto given = arg_names->find(name);
  return given == arg_names->end() ? name : given->second;
}

void AppendArgs(std::string_view place,
                const TemplateValues& values,
                std::vector<std::string>& words) {
  const auto style = internal::ParseArgStyle(place);
  if (!style) throw ConfigError(internal::ProblemWithArgStyle(place).value_or(""));
  if (values.params == nullptr) return;
  for (const auto& [name, value] : *values.params) {
    const auto shown = ArgName(name, values.arg_names);
    if (!shown) continue;
    const size_t first = words.size();
    internal::AppendArg(*style, *shown, value, words);
    for (size_t i = first; i < words.size(); ++i) RequireWord(words[i], "--" + *shown);
  }
}

}  // namespace

std::optional<std::string> ProblemWithTemplate(
    std::string_view text, std::span<const std::string> parameters) {
  if (text.find('\0') != text.npos) return "it has a NUL byte";
  const Pieces pieces = Split(text);
  for (const Piece& piece : pieces.pieces) {
    if (!piece.is_place) continue;
    if (auto problem = ProblemWithPlace(piece.text, parameters)) return problem;
  }
  if (pieces.unclosed) {
    return fmt::format("a ${{ without its }} in {} ($${{ stands for a literal ${{)",
                       text);
  }
  return std::nullopt;
}

std::optional<std::string> ProblemWithCommand(std::span<const std::string> words,
                                              std::span<const std::string> parameters) {
  if (words.empty() || words[0].empty()) return "the command names no program";
  if (ArgsPlace(words[0])) {
    return "the command starts with ${args}; its first word is the program";
  }
  for (const std::string& word : words) {
    const auto args = ArgsPlace(word);
    auto problem = args ? internal::ProblemWithArgStyle(*args)
                        : ProblemWithTemplate(word, parameters);
    if (problem) return problem;
  }
  return ProblemWithShells(words, parameters);
}

std::string ExpandTemplate(std::string_view text, const TemplateValues& values) {
  std::string out;
  for (const Piece& piece : Split(text).pieces) {
    if (piece.is_place) {
      out += ValueOf(piece.text, values);
    } else {
      out += piece.text;
    }
  }
  RequireWord(out, text);
  return out;
}

std::vector<std::string> ExpandCommand(std::span<const std::string> words,
                                       const TemplateValues& values) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (const auto args = ArgsPlace(word)) {
      AppendArgs(*args, values, out);
    } else {
      out.push_back(ExpandTemplate(word, values));
    }
  }
  return out;
}

std::vector<std::string> EnvironmentNames(std::span<const std::string> words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    for (const Piece& piece : Split(word).pieces) {
      if (!piece.is_place || !piece.text.starts_with(kEnvPrefix)) continue;
      names.emplace_back(piece.text.substr(kEnvPrefix.size()));
    }
  }
  return names;
}

bool HasArgs(std::span<const std::string> words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return ArgsPlace(word).has_value(); });
}

std::vector<std::string> UnusedParameters(std::span<const std::string> words,
                                          std::span<const std::string> parameters,
                                          const ArgNames& arg_names) {
  std::vector<std::string> unused(parameters.begin(), parameters.end());
  std::sort(unused.begin(), unused.end());
  for (const std::string& word : words) {
    if (ArgsPlace(word)) {
      std::erase_if(unused, [&arg_names](const std::string& name) {
        return ArgName(name, &arg_names).has_value();
      });
      continue;
    }
    for (const Piece& piece : Split(word).pieces) {
      if (piece.is_place) std::erase(unused, piece.text);
    }
  }
  return unused;
}

}  // namespace hyperopt
