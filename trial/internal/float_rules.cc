#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "trial/internal/domain_rules.h"

namespace hyperopt::internal {

std::optional<std::string> FloatRules::Problem(const FloatDomain& d) {
  const auto text = [](double x) { return DoubleToText(x); };
  if (!std::isfinite(d.lower) || !std::isfinite(d.upper)) {
    return fmt::format("bounds must be finite: {} .. {}", text(d.lower), text(d.upper));
  }
  if (d.lower >= d.upper) {
    return fmt::format(
        "lower ({}) must be below upper ({})", text(d.lower), text(d.upper));
  }
  if (d.log && d.lower <= 0) {
    return fmt::format("lower ({}) must be above 0 for a logarithmic space",
                       text(d.lower));
  }
  if (!d.step) return std::nullopt;
  if (!(*d.step > 0) || !std::isfinite(*d.step)) {
    return fmt::format("the step ({}) must be finite and above 0", text(*d.step));
  }
  const double width = d.upper - d.lower;
  if (*d.step > width * (1 + 1e-9)) {
    return fmt::format("the step ({}) is larger than the range {} .. {}",
                       text(*d.step),
                       text(d.lower),
                       text(d.upper));
  }
  // Beyond, neighbours on the grid would be the same double.
  const double largest = std::max(std::fabs(d.lower), std::fabs(d.upper));
  if (!(std::max(width, largest) / *d.step < 0x1p53)) {
    return fmt::format(
        "the step ({}) is too small for the range {} .. {}: leave it out",
        text(*d.step),
        text(d.lower),
        text(d.upper));
  }
  return std::nullopt;
}

FloatRules::FloatRules(const FloatDomain& domain) : domain_(domain) {
  if (!domain.step) return;
  grid_.emplace(domain.lower, domain.upper, *domain.step);
  last_ = grid_->last();
}

double FloatRules::Continuous(double u) const {
  const double lower = domain_.lower;
  const double upper = domain_.upper;
  const double width = upper - lower;
  if (domain_.log) {
    return std::clamp(lower + LogScale(lower, width).OffsetAt(u), lower, upper);
  }
  const double v = ClampUnit(u);
  const double x =
      std::isfinite(width) ? lower + v * width : lower * (1 - v) + upper * v;
  return std::clamp(x, lower, upper);
}

// In steps counted from lower: value k owns [k - 1/2, k + 1/2], as far as that lies
// within the bounds.
LogScale FloatRules::StepScale() const {
  const double beyond = (domain_.upper - grid_->At(last_)) / *domain_.step;
  return LogScale(domain_.lower / *domain_.step,
                  static_cast<double>(last_) + std::clamp(beyond, 0.0, 0.5));
}

ParamValue FloatRules::FromUnit(double u) const {
  if (!grid_) return Continuous(u);
  if (!domain_.log) return grid_->At(static_cast<int64_t>(CellAt(u, last())));
  const double place = std::floor(StepScale().OffsetAt(u) + 0.5);
  return grid_->At(std::min(last_, static_cast<int64_t>(place)));
}

ParamValue FloatRules::Draw(Rng& rng) const {
  if (!grid_ || domain_.log) return FromUnit(rng.Uniform());
  return grid_->At(static_cast<int64_t>(rng.Below(last() + 1)));
}

std::optional<double> FloatRules::StepToUnit(double value) const {
  const auto k = grid_->IndexOf(value);
  if (!k || *k < 0 || *k > last_) return std::nullopt;
  if (!domain_.log) return MiddleOf(static_cast<uint64_t>(*k), last());
  const LogScale scale = StepScale();
  const auto place = static_cast<double>(*k);
  const double low = *k == 0 ? 0 : scale.UnitAt(place - 0.5);
  const double high = *k == last_ ? 1 : scale.UnitAt(place + 0.5);
  return ClampUnit((low + high) / 2);
}

std::optional<double> FloatRules::ToUnit(const ParamValue& value) const {
  const auto* x = std::get_if<double>(&value);
  const double lower = domain_.lower;
  const double upper = domain_.upper;
  if (x == nullptr || !(*x >= lower && *x <= upper)) return std::nullopt;
  if (grid_) return StepToUnit(*x);
  if (domain_.log) return LogScale(lower, upper - lower).UnitAt(*x - lower);
  // Halves, since upper - lower may be more than a double holds.
  return ClampUnit((*x / 2 - lower / 2) / (upper / 2 - lower / 2));
}

std::optional<int64_t> FloatRules::Cardinality() const {
  if (!grid_) return std::nullopt;
  return last_ + 1;
}

ParamValue FloatRules::ValueAt(int64_t index) const {
  assert(grid_ && index >= 0 && index <= last_);
  return grid_->At(index);
}

std::string FloatRules::Describe() const {
  std::string text = fmt::format("{}uniform {} .. {}",
                                 domain_.log ? "log" : "",
                                 DoubleToText(domain_.lower),
                                 DoubleToText(domain_.upper));
  if (domain_.step) text += " by " + DoubleToText(*domain_.step);
  return text;
}

}  // namespace hyperopt::internal
