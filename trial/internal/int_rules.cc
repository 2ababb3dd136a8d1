#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "trial/internal/domain_rules.h"

namespace hyperopt::internal {
namespace {

// Right for any two int64 with from <= to, as their difference may not fit one.
uint64_t Distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

}  // namespace

std::optional<std::string> IntRules::Problem(const IntDomain& d) {
  if (d.lower > d.upper) {
    return fmt::format("lower ({}) must not be above upper ({})", d.lower, d.upper);
  }
  if (d.log && d.lower <= 0) {
    return fmt::format("lower ({}) must be above 0 for a logarithmic space", d.lower);
  }
  if (d.step <= 0) return fmt::format("the step ({}) must be above 0", d.step);
  const uint64_t width = Distance(d.lower, d.upper);
  if (width > 0 && static_cast<uint64_t>(d.step) > width) {
    return fmt::format(
        "the step ({}) is larger than the range {} .. {}", d.step, d.lower, d.upper);
  }
  return std::nullopt;
}

IntRules::IntRules(const IntDomain& domain)
    : domain_(domain),
      last_(Distance(domain.lower, domain.upper) / static_cast<uint64_t>(domain.step)) {
}

int64_t IntRules::At(uint64_t k) const {
  assert(k <= last_);
  return static_cast<int64_t>(static_cast<uint64_t>(domain_.lower) +
                              k * static_cast<uint64_t>(domain_.step));
}

// In steps counted from lower: value k owns [k, k + 1).
LogScale IntRules::CellScale() const {
  return LogScale(
      static_cast<double>(domain_.lower) / static_cast<double>(domain_.step),
      static_cast<double>(last_) + 1);
}

ParamValue IntRules::FromUnit(double u) const {
  if (!domain_.log) return At(CellAt(u, last_));
  return At(std::min(static_cast<uint64_t>(CellScale().OffsetAt(u)), last_));
}

// Not by way of a unit, whose 53 bits would leave the low bits of a wide range at 0.
ParamValue IntRules::Draw(Rng& rng) const {
  if (domain_.log) return FromUnit(rng.Uniform());
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  return At(last_ == kAll ? rng.Next() : rng.Below(last_ + 1));
}

std::optional<double> IntRules::ToUnit(const ParamValue& value) const {
  const auto* x = std::get_if<int64_t>(&value);
  if (x == nullptr || *x < domain_.lower || *x > domain_.upper) return std::nullopt;
  const uint64_t offset = Distance(domain_.lower, *x);
  const auto step = static_cast<uint64_t>(domain_.step);
  if (offset % step != 0) return std::nullopt;
  const uint64_t k = offset / step;
  if (!domain_.log) return MiddleOf(k, last_);
  const LogScale scale = CellScale();
  const auto place = static_cast<double>(k);
  const double high = k == last_ ? 1 : scale.UnitAt(place + 1);
  return ClampUnit((scale.UnitAt(place) + high) / 2);
}

std::optional<int64_t> IntRules::Cardinality() const {
  if (last_ >= uint64_t{1} << 62) return std::nullopt;
  return static_cast<int64_t>(last_) + 1;
}

ParamValue IntRules::ValueAt(int64_t index) const {
  return At(static_cast<uint64_t>(index));
}

std::string IntRules::Describe() const {
  std::string text = fmt::format(
      "{}int {} .. {}", domain_.log ? "log" : "", domain_.lower, domain_.upper);
  if (domain_.step != 1) text += fmt::format(" by {}", domain_.step);
  return text;
}

}  // namespace hyperopt::internal
