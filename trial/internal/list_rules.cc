#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "trial/internal/domain_rules.h"

namespace hyperopt::internal {

std::optional<std::string> ListRules::Problem(std::span<const ParamValue> values) {
  if (values.empty()) return "the list of values is empty";
  std::set<ParamValue> seen;
  for (const ParamValue& value : values) {
    const auto* x = std::get_if<double>(&value);
    if (x != nullptr && !std::isfinite(*x)) {
      return fmt::format("{} can not be a value: numbers must be finite",
                         DoubleToText(*x));
    }
    if (!seen.insert(value).second) {
      return fmt::format("{} is in the list twice", ToJsonText(value));
    }
  }
  return std::nullopt;
}

ParamValue ListRules::FromUnit(double u) const {
  return values_[CellAt(u, values_.size() - 1)];
}

ParamValue ListRules::Draw(Rng& rng) const {
  return values_[rng.Below(values_.size())];
}

std::optional<double> ListRules::ToUnit(const ParamValue& value) const {
  const auto found = std::ranges::find(values_, value);
  if (found == values_.end()) return std::nullopt;
  return MiddleOf(static_cast<uint64_t>(found - values_.begin()), values_.size() - 1);
}

ParamValue ListRules::ValueAt(int64_t index) const {
  return values_[static_cast<size_t>(index)];
}

std::string ListRules::Describe() const {
  std::string text(word_);
  for (size_t i = 0; i < values_.size(); ++i) {
    text += (i == 0 ? " " : ", ") + ToWord(values_[i]);
  }
  return text;
}

}  // namespace hyperopt::internal
