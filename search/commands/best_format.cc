#include "search/commands/best_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "executors/attempt_folder.h"
#include "trial/command.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

std::string QuotedWord(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-+=.,/:@%^[]").find(static_cast<char>(c)) !=
               std::string_view::npos;
  });
  return plain ? word : QuoteShellWord(word);
}

// The word of the command that hands parameters on, "${args}" where none does.
std::string ArgsWord(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (HasArgs(std::vector{word})) return word;
  }
  return "${args}";
}

std::string Args(const SearchConfig& config, const Params& params) {
  TemplateValues values;
  values.params = &params;
  values.arg_names = &config.arg_names;
  std::vector<std::string> words =
      ExpandCommand(std::vector{ArgsWord(config.command)}, values);
  std::ranges::transform(words, words.begin(), QuotedWord);
  return fmt::format("{}\n", fmt::join(words, " "));
}

// A name that YAML 1.1 would read as something else, or not at all, is quoted.
std::string YamlName(const std::string& name) {
  constexpr std::array<std::string_view, 9> kWords = {
      "y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  std::string folded = name;
  std::ranges::transform(
      folded, folded.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool is_plain =
      std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
      std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
      });
  const bool is_word = std::ranges::find(kWords, folded) != kWords.end();
  return is_plain && !is_word ? name : QuoteJson(name);
}

}  // namespace

std::optional<BestFormat> BestFormatFromString(std::string_view text) {
  if (text == "args") return BestFormat::kArgs;
  if (text == "yaml") return BestFormat::kYaml;
  if (text == "json") return BestFormat::kJson;
  if (text == "env") return BestFormat::kEnv;
  if (text == "value") return BestFormat::kValue;
  return std::nullopt;
}

std::string FormatParams(const SearchConfig& config,
                         const Params& params,
                         BestFormat format) {
  if (format == BestFormat::kArgs) return Args(config, params);
  if (format == BestFormat::kJson) return ToJsonText(params) + "\n";
  std::string text;
  for (const auto& [name, value] : params) {
    text += format == BestFormat::kYaml
                ? fmt::format("{}: {}\n", YamlName(name), ToJsonText(value))
                : fmt::format(
                      "{}={}\n", ParameterVariable(name), QuotedWord(ToWord(value)));
  }
  return text;
}

}  // namespace hyperopt
