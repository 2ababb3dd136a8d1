#include "search/internal/config/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>

namespace hyperopt::internal {
namespace {

template <size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 3> kInf = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};

bool AllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
}

// -?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, the sign taken off before.
bool LooksLikeFloat(std::string_view text) {
  const size_t e = text.find_first_of("eE");
  if (e != text.npos) {
    std::string_view exponent = text.substr(e + 1);
    if (!exponent.empty() && (exponent[0] == '-' || exponent[0] == '+')) {
      exponent.remove_prefix(1);
    }
    if (!AllDigits(exponent)) return false;
    text = text.substr(0, e);
  }
  const size_t dot = text.find('.');
  if (dot == text.npos) return AllDigits(text);
  const std::string_view before = text.substr(0, dot);
  const std::string_view after = text.substr(dot + 1);
  if (before.empty()) return AllDigits(after);
  return AllDigits(before) && (after.empty() || AllDigits(after));
}

void SetFloat(Value& scalar, double number) {
  scalar.kind = Value::Kind::kFloat;
  scalar.number = number;
}

std::optional<std::string> SetInt(Value& scalar,
                                  std::string_view digits,
                                  int base,
                                  bool negative) {
  const std::string signed_text = (negative ? "-" : "") + std::string(digits);
  const char* const end = signed_text.data() + signed_text.size();
  const auto result = std::from_chars(signed_text.data(), end, scalar.integer, base);
  if (result.ec != std::errc()) {
    scalar.kind = Value::Kind::kBroken;
    return fmt::format(
        "{} is beyond 64 bits; write it as a float (1e20) or as a string in quotes",
        scalar.text.substr(0, 60));
  }
  scalar.kind = Value::Kind::kInt;
  scalar.number = static_cast<double>(scalar.integer);
  return std::nullopt;
}

std::optional<std::string> SetParsedFloat(Value& scalar,
                                          std::string_view digits,
                                          bool negative) {
  double number = 0;
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc()) {
    scalar.kind = Value::Kind::kBroken;
    return fmt::format("{} is beyond the range of a double", scalar.text.substr(0, 60));
  }
  SetFloat(scalar, negative ? -number : number);
  return std::nullopt;
}

bool IsInBase(std::string_view digits, int base) {
  return !digits.empty() && std::ranges::all_of(digits, [base](unsigned char c) {
    return base == 16 ? std::isxdigit(c) != 0 : c >= '0' && c < '8';
  });
}

}  // namespace

std::optional<std::string> ResolvePlain(Value& scalar) {
  std::string_view text = scalar.text;
  scalar.kind = Value::Kind::kString;
  if (IsOneOf(text, kNull)) {
    scalar.kind = Value::Kind::kNull;
    return std::nullopt;
  }
  if (IsOneOf(text, kTrue) || IsOneOf(text, kFalse)) {
    scalar.kind = Value::Kind::kBool;
    scalar.boolean = IsOneOf(text, kTrue);
    return std::nullopt;
  }
  if (IsOneOf(text, kNan)) {
    SetFloat(scalar, std::numeric_limits<double>::quiet_NaN());
    return std::nullopt;
  }
  if (text.starts_with("0x") && IsInBase(text.substr(2), 16)) {
    return SetInt(scalar, text.substr(2), 16, false);
  }
  if (text.starts_with("0o") && IsInBase(text.substr(2), 8)) {
    return SetInt(scalar, text.substr(2), 8, false);
  }
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (IsOneOf(text, kInf)) {
    const double infinity = std::numeric_limits<double>::infinity();
    SetFloat(scalar, negative ? -infinity : infinity);
    return std::nullopt;
  }
  if (AllDigits(text)) return SetInt(scalar, text, 10, negative);
  if (LooksLikeFloat(text)) return SetParsedFloat(scalar, text, negative);
  return std::nullopt;
}

}  // namespace hyperopt::internal
