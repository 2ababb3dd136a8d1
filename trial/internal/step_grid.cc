#include "trial/internal/step_grid.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <string_view>

namespace hyperopt::internal {
namespace {

struct ShortDecimal {
  int64_t digits;
  int exponent;
};

// The shortest digits * 10^exponent that reads back as `value`: at most 17 digits.
ShortDecimal ToDecimal(double value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(),
                                 buffer.data() + buffer.size(),
                                 value,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = text.find('e');
  ShortDecimal result{0, 0};
  bool negative = false;
  bool after_point = false;
  for (const char c : text.substr(0, e)) {
    if (c == '-') negative = true;
    if (c == '.') after_point = true;
    if (c < '0' || c > '9') continue;
    result.digits = result.digits * 10 + (c - '0');
    if (after_point) --result.exponent;
  }
  if (negative) result.digits = -result.digits;
  const size_t sign = text[e + 1] == '+' ? 1 : 0;  // from_chars knows no plus
  int exponent = 0;
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), exponent);
  result.exponent += exponent;
  return result;
}

// digits * 10^(exponent - target) where it fits.
std::optional<int64_t> Rescale(const ShortDecimal& number, int target) {
  int64_t digits = number.digits;
  if (digits == 0) return 0;
  for (int i = number.exponent; i > target; --i) {
    if (__builtin_mul_overflow(digits, int64_t{10}, &digits)) return std::nullopt;
  }
  return digits;
}

}  // namespace

std::optional<StepGrid::Decimal> StepGrid::FindDecimal(double lower, double step) {
  const ShortDecimal first = ToDecimal(lower);
  const ShortDecimal increment = ToDecimal(step);
  const int exponent = first.digits == 0 ? increment.exponent
                                         : std::min(first.exponent, increment.exponent);
  const auto a = Rescale(first, exponent);
  const auto b = Rescale(increment, exponent);
  if (!a || !b) return std::nullopt;
  return Decimal{*a, *b, exponent};
}

StepGrid::StepGrid(double lower, double upper, double step)
    : lower_(lower), upper_(upper), step_(step), decimal_(FindDecimal(lower, step)) {
  assert(step > 0 && std::isfinite(lower) && std::isfinite(step));
}

double StepGrid::Sum(int64_t k) const {
  int64_t digits = 0;
  const bool exact = decimal_ &&
                     !__builtin_mul_overflow(k, decimal_->increment, &digits) &&
                     !__builtin_add_overflow(digits, decimal_->first, &digits);
  if (!exact) return std::fma(static_cast<double>(k), step_, lower_);
  // Through text, since only reading rounds digits * 10^exponent once.
  std::array<char, 40> buffer;
  char* end = std::to_chars(buffer.data(), buffer.data() + 24, digits).ptr;
  *end++ = 'e';
  end = std::to_chars(end, buffer.data() + buffer.size(), decimal_->exponent).ptr;
  double value = 0;
  std::from_chars(buffer.data(), end, value);
  return value;
}

double StepGrid::At(int64_t k) const { return std::min(Sum(k), upper_); }

std::optional<int64_t> StepGrid::IndexOf(double value) const {
  const double place = std::round((value - lower_) / step_);
  if (!(std::fabs(place) < 0x1p53)) return std::nullopt;
  const auto near = static_cast<int64_t>(place);
  for (const int64_t k : {near, near - 1, near + 1}) {
    if (At(k) == value) return k;
  }
  return std::nullopt;
}

int64_t StepGrid::last() const {
  auto k = static_cast<int64_t>(std::floor((upper_ - lower_) / step_ + 1e-9));
  if (!decimal_) return k;
  // The quotient is rounded, by less than 4 at 2^53; the decimals are not.
  k += 4;
  for (int i = 0; i < 8 && k > 0 && Sum(k) > upper_; ++i) --k;
  return k;
}

}  // namespace hyperopt::internal
