#include "executors/internal/number_word.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace hyperopt::internal {
namespace {

bool SameWord(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == y;
         });
}

}  // namespace

std::optional<double> NonFinite(std::string_view word) {
  bool negative = false;
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) {
    negative = word[0] == '-';
    word.remove_prefix(1);
  }
  if (SameWord(word, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (SameWord(word, "inf") || SameWord(word, "infinity")) {
    const double inf = std::numeric_limits<double>::infinity();
    return negative ? -inf : inf;
  }
  return std::nullopt;
}

std::optional<double> Number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || std::isalpha(static_cast<unsigned char>(word.back())) != 0) {
    return std::nullopt;  // from_chars would take inf and nan in its own ways
  }
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (stop != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    return std::strtod(std::string(word).c_str(), nullptr);  // 1e999, 1e-999
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> NumberOrNonFinite(std::string_view word) {
  const std::optional<double> number = Number(word);
  return number ? number : NonFinite(word);
}

std::optional<int64_t> Integer(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value != std::floor(value) || value < -kTwo63 || value >= kTwo63) {
    return std::nullopt;
  }
  return static_cast<int64_t>(value);
}

std::optional<int64_t> Integer(std::string_view word, double value) {
  int64_t exact = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, exact);
  if (error == std::errc() && stop == end) return exact;
  return Integer(value);
}

}  // namespace hyperopt::internal
