#include "trial/internal/arg_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

constexpr std::string_view kArgs = "args";

struct Word {
  std::string_view name;
  bool ArgStyle::*member;
};
constexpr std::array kWords = {Word{"hydra", &ArgStyle::hydra},
                               Word{"space", &ArgStyle::space},
                               Word{"dashes", &ArgStyle::dashes},
                               Word{"flags", &ArgStyle::flags},
                               Word{"noflags", &ArgStyle::no_flags}};

struct Parsed {
  ArgStyle style;
  std::string problem;
};

std::string UnknownStyle(std::string_view word) {
  std::vector<std::string> known;
  for (const Word& each : kWords) known.emplace_back(each.name);
  const auto near = NearestName(word, known);
  return fmt::format("{} is no style{}; there are {}",
                     word.empty() ? "nothing" : word,
                     near ? fmt::format(" (did you mean {}?)", *near) : "",
                     fmt::join(known, ", "));
}

Parsed Parse(std::string_view place) {
  Parsed parsed;
  if (place == kArgs) return parsed;
  std::string_view rest = place.substr(kArgs.size() + 1);
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string_view name = Trim(rest.substr(0, comma));
    more = comma != rest.npos;
    if (more) rest = rest.substr(comma + 1);
    const auto word = std::ranges::find(kWords, name, &Word::name);
    if (word == kWords.end()) {
      parsed.problem = UnknownStyle(name);
      return parsed;
    }
    parsed.style.*(word->member) = true;
  }
  const ArgStyle& style = parsed.style;
  if (style.hydra && (style.space || style.dashes || style.flags || style.no_flags)) {
    parsed.problem = "hydra is name=value and goes with no other style";
  } else if (style.flags && style.no_flags) {
    parsed.problem =
        "flags leaves a false one out and noflags writes --no-name: choose one";
  }
  return parsed;
}

// A negative number without an exponent: argparse takes "-1.0e-05" for an option.
std::string WithoutExponent(double value) {
  std::string text = fmt::format("{:.1f}", value);
  for (int digits = 2; std::strtod(text.c_str(), nullptr) != value; ++digits) {
    text = fmt::format("{:.{}f}", value, digits);
  }
  return text;
}

std::string WordAfterBlank(const ParamValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && *number < 0 ? WithoutExponent(*number) : ToWord(value);
}

}  // namespace

std::optional<ArgStyle> ParseArgStyle(std::string_view place) {
  if (place != kArgs && !place.starts_with("args:")) return std::nullopt;
  const Parsed parsed = Parse(place);
  return parsed.problem.empty() ? std::optional(parsed.style) : std::nullopt;
}

std::optional<std::string> ProblemWithArgStyle(std::string_view place) {
  Parsed parsed = Parse(place);
  if (parsed.problem.empty()) return std::nullopt;
  return fmt::format("${{{}}}: {}", place, parsed.problem);
}

void AppendArg(const ArgStyle& style,
               std::string_view name,
               const ParamValue& value,
               std::vector<std::string>& words) {
  if (style.hydra) {
    words.push_back(fmt::format("{}={}", name, HydraValue(value)));
    return;
  }
  std::string shown(name);
  if (style.dashes) std::ranges::replace(shown, '_', '-');
  const auto* flag = std::get_if<bool>(&value);
  if (flag != nullptr && (style.flags || style.no_flags)) {
    if (*flag) words.push_back("--" + shown);
    if (!*flag && style.no_flags) words.push_back("--no-" + shown);
    return;
  }
  if (style.space) {
    words.push_back("--" + shown);
    words.push_back(WordAfterBlank(value));
  } else {
    words.push_back(fmt::format("--{}={}", shown, ToWord(value)));
  }
}

}  // namespace hyperopt::internal
