// Values in the grammar of Hydra's overrides (OverrideLexer.g4, OverrideParser.g4 of
// Hydra 1.3).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/internal/arg_words.h"
#include "trial/json.h"

namespace hyperopt::internal {
namespace {

bool IsAlphaNumeric(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && std::isalnum(byte) != 0;
}

// Words that stand for something else than themselves, in any case.
bool IsKeyword(std::string_view text) {
  constexpr std::array<std::string_view, 5> kKeywords = {
      "true", "false", "null", "inf", "nan"};
  return std::ranges::any_of(kKeywords, [text](std::string_view keyword) {
    return std::ranges::equal(text, keyword, [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  });
}

bool IsPlain(std::string_view text) {
  if (text.empty() || IsKeyword(text)) return false;
  const char first = text.front();
  if (first != '_' && first != '/' &&
      std::isalpha(static_cast<unsigned char>(first)) == 0) {
    return false;
  }
  return std::ranges::all_of(text, [](char c) {
    return IsAlphaNumeric(c) || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

// OmegaConf reads "${" as an interpolation unless a backslash stands before it; those
// in front of it are then doubled.
std::string WithoutInterpolation(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) {
      size_t slashes = 0;
      while (slashes < i && text[i - 1 - slashes] == '\\') ++slashes;
      out.append(slashes + 1, '\\');
    }
    out += text[i];
  }
  return out;
}

// In '...' a quote is \', and the backslashes in front of a quote are doubled; all
// others are literal.
std::string Quoted(std::string_view text) {
  const std::string literal = WithoutInterpolation(text);
  std::string out = "'";
  size_t slashes = 0;
  for (const char c : literal) {
    if (c == '\'') out.append(slashes + 1, '\\');
    slashes = c == '\\' ? slashes + 1 : 0;
    out += c;
  }
  out.append(slashes, '\\');
  return out + "'";
}

// A key has no quotes; what means something is escaped.
std::string Key(const std::string& key) {
  constexpr std::string_view kEscaped = "\\()[]{}:=, \t";
  constexpr std::string_view kLiteral = "_/-+.$%*@?|";
  std::string out;
  for (const char c : key) {
    if (kEscaped.find(c) != kEscaped.npos) {
      out += '\\';
    } else if (!IsAlphaNumeric(c) && kLiteral.find(c) == kLiteral.npos) {
      out.clear();
      break;
    }
    out += c;
  }
  if (!out.empty()) return out;
  throw ConfigError(
      fmt::format("Hydra's overrides can not hold a map with the key {}; let the trial "
                  "read the file that $HYPEROPT_PARAMS names",
                  QuoteJson(key)));
}

std::string FromJson(const OrderedJson& json) {
  if (!json.is_structured()) return HydraValue(ParamValueFromJson(json));
  std::string out;
  for (const auto& [key, value] : json.items()) {
    if (!out.empty()) out += ',';
    if (json.is_object()) out += Key(key) + ":";
    out += FromJson(value);
  }
  return json.is_array() ? "[" + out + "]" : "{" + out + "}";
}

}  // namespace

std::string HydraValue(const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return IsPlain(*text) ? *text : Quoted(*text);
  }
  if (const auto* structured = std::get_if<Structured>(&value)) {
    return FromJson(ParseJson(structured->json));
  }
  return ToWord(value);
}

}  // namespace hyperopt::internal
