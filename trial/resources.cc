#include "trial/resources.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cctype>
#include <charconv>
#include <cmath>

#include "trial/text.h"

namespace hyperopt {
namespace {

// The factor of a unit as ParseSize documents them; nullopt for what is none.
std::optional<int64_t> UnitFactor(std::string_view unit) {
  if (unit.empty()) return 1;
  constexpr std::string_view kPrefixes = "kmgt";
  const char first =
      static_cast<char>(std::tolower(static_cast<unsigned char>(unit[0])));
  std::string rest;
  for (const char c : unit.substr(1)) {
    rest += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (first == 'b' && rest.empty()) return 1;
  const size_t power = kPrefixes.find(first);
  if (power == kPrefixes.npos) return std::nullopt;
  if (rest != "" && rest != "b" && rest != "ib") return std::nullopt;
  int64_t factor = 1;
  for (size_t i = 0; i <= power; ++i) factor *= rest == "b" ? 1000 : 1024;
  return factor;
}

}  // namespace

Share Share::Of(double value) {
  assert(std::abs(value) < 9e12);
  return Micro(std::llround(value * static_cast<double>(kWhole)));
}

std::string Share::ToText() const {
  const bool negative = micro_ < 0;
  const auto size =
      negative ? -static_cast<uint64_t>(micro_) : static_cast<uint64_t>(micro_);
  std::string text =
      fmt::format("{}{}", negative ? "-" : "", size / static_cast<uint64_t>(kWhole));
  const uint64_t part = size % static_cast<uint64_t>(kWhole);
  if (part == 0) return text;
  text += fmt::format(".{:06}", part);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

std::optional<int64_t> ParseSize(std::string_view text) {
  text = Trim(text);
  // from_chars takes "inf", "nan" and a sign as well; a size starts with a digit.
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  const auto as_whole = std::from_chars(text.data(), end, whole);
  double number = 0;
  const auto as_number = std::from_chars(text.data(), end, number);
  if (as_number.ec != std::errc()) return std::nullopt;
  const auto factor =
      UnitFactor(Trim({as_number.ptr, static_cast<size_t>(end - as_number.ptr)}));
  if (!factor) return std::nullopt;
  if (as_whole.ec == std::errc() && as_whole.ptr == as_number.ptr) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(whole, *factor, &bytes)) return std::nullopt;
    return bytes;
  }
  const double bytes = number * static_cast<double>(*factor);
  if (!(bytes < 9.2e18)) return std::nullopt;
  return std::llround(bytes);
}

std::string SizeToText(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(number) >= 1024 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", number, kUnits[unit]);
}

}  // namespace hyperopt
