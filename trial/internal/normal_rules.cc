#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "trial/internal/domain_rules.h"

namespace hyperopt::internal {
namespace {

// How far from the mean FromUnit goes, in sd: the quantile of 2^-54.
constexpr double kReach = 8.3;
constexpr double kFirstUnit = 0x1p-54;

}  // namespace

std::optional<std::string> NormalRules::Problem(const NormalDomain& d) {
  if (!std::isfinite(d.mean)) return "the mean must be finite";
  if (!(d.sd > 0) || !std::isfinite(d.sd)) {
    return fmt::format("sd ({}) must be finite and above 0", DoubleToText(d.sd));
  }
  const double furthest = std::fabs(d.mean) + kReach * d.sd;
  if (!std::isfinite(furthest)) return "mean and sd are too large for a double";
  if (!d.q) return std::nullopt;
  if (!(*d.q > 0) || !std::isfinite(*d.q)) {
    return fmt::format("q ({}) must be finite and above 0", DoubleToText(*d.q));
  }
  if (!(furthest / *d.q < 0x1p53) || !std::isfinite(furthest + *d.q)) {
    return fmt::format("q ({}) does not fit mean {} and sd {}",
                       DoubleToText(*d.q),
                       DoubleToText(d.mean),
                       DoubleToText(d.sd));
  }
  return std::nullopt;
}

double NormalRules::Cdf(double x) const {
  return NormalCdf((x - domain_.mean) / domain_.sd);
}

StepGrid NormalRules::Multiples() const {
  return StepGrid(0, std::numeric_limits<double>::infinity(), *domain_.q);
}

ParamValue NormalRules::FromUnit(double u) const {
  const double inside = std::max(ClampUnit(u), kFirstUnit);
  const double x = domain_.mean + domain_.sd * NormalQuantile(inside);
  if (!domain_.q) return x;
  return Multiples().At(static_cast<int64_t>(std::round(x / *domain_.q)));
}

std::optional<double> NormalRules::ToUnit(const ParamValue& value) const {
  const auto* x = std::get_if<double>(&value);
  if (x == nullptr || !std::isfinite(*x)) return std::nullopt;
  if (!domain_.q) return ClampUnit(Cdf(*x));
  if (!Multiples().IndexOf(*x)) return std::nullopt;
  return ClampUnit((Cdf(*x - *domain_.q / 2) + Cdf(*x + *domain_.q / 2)) / 2);
}

ParamValue NormalRules::ValueAt(int64_t) const {
  assert(false && "a normal domain is not finite");
  return std::monostate{};
}

std::string NormalRules::Describe() const {
  std::string text = fmt::format(
      "normal, mean {} sd {}", DoubleToText(domain_.mean), DoubleToText(domain_.sd));
  if (domain_.q) text += ", multiples of " + DoubleToText(*domain_.q);
  return text;
}

}  // namespace hyperopt::internal
