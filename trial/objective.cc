#include "trial/objective.h"

#include <cmath>
#include <limits>

namespace hyperopt {

Objective Objective::Of(double v) {
  if (std::isnan(v)) return {NumberKind::kNan, 0};
  if (std::isinf(v)) return {v > 0 ? NumberKind::kPosInf : NumberKind::kNegInf, 0};
  return {NumberKind::kFinite, v};
}

double Objective::AsDouble() const {
  switch (kind) {
    case NumberKind::kFinite:
      return value;
    case NumberKind::kPosInf:
      return std::numeric_limits<double>::infinity();
    case NumberKind::kNegInf:
      return -std::numeric_limits<double>::infinity();
    case NumberKind::kNan:
    case NumberKind::kMissing:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool Better(Goal goal, const Objective& a, const Objective& b) {
  if (!a.finite()) return false;
  if (!b.finite()) return true;
  return goal == Goal::kMinimize ? a.value < b.value : a.value > b.value;
}

std::string_view ToString(NumberKind kind) {
  switch (kind) {
    case NumberKind::kFinite:
      return "finite";
    case NumberKind::kNan:
      return "NaN";
    case NumberKind::kPosInf:
      return "+inf";
    case NumberKind::kNegInf:
      return "-inf";
    case NumberKind::kMissing:
      return "missing";
  }
  return "missing";
}

std::optional<NumberKind> NumberKindFromString(std::string_view text) {
  for (NumberKind kind : {NumberKind::kFinite,
                          NumberKind::kNan,
                          NumberKind::kPosInf,
                          NumberKind::kNegInf,
                          NumberKind::kMissing}) {
    if (text == ToString(kind)) return kind;
  }
  return std::nullopt;
}

std::string_view ToString(Goal goal) {
  return goal == Goal::kMinimize ? "minimize" : "maximize";
}

}  // namespace hyperopt
