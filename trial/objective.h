// One objective value as it is recorded: SQL has no NaN, so a kind stands beside it.
#pragma once

#include <optional>
#include <string_view>

namespace hyperopt {

enum class Goal { kMinimize, kMaximize };

enum class NumberKind { kFinite, kNan, kPosInf, kNegInf, kMissing };

// A number that may be NaN, infinite or missing. All five are values.
struct Objective {
  NumberKind kind = NumberKind::kMissing;
  double value = 0;  // meaningful only where kind is kFinite

  static Objective Of(double v);
  static Objective Missing() { return {}; }
  // The number as a double: NaN for kNan and kMissing.
  double AsDouble() const;
  bool finite() const { return kind == NumberKind::kFinite; }
  bool missing() const { return kind == NumberKind::kMissing; }
  bool operator==(const Objective&) const = default;
};

// NaN, both infinities and missing rank worst, and equal among themselves, whatever
// the goal (DESIGN, "States of a trial"). True where `a` is strictly better than `b`.
bool Better(Goal goal, const Objective& a, const Objective& b);

std::string_view ToString(NumberKind kind);
std::optional<NumberKind> NumberKindFromString(std::string_view text);
std::string_view ToString(Goal goal);

}  // namespace hyperopt
