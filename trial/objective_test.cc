#include "trial/objective.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hyperopt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Objective> WorstOnes() {
  return {Objective::Of(std::nan("")),
          Objective::Of(kInf),
          Objective::Of(-kInf),
          Objective::Missing()};
}

TEST_CASE("objective: finite values are ordered by the goal") {
  const Objective low = Objective::Of(-1);
  const Objective high = Objective::Of(2);
  CHECK(Better(Goal::kMinimize, low, high));
  CHECK_FALSE(Better(Goal::kMinimize, high, low));
  CHECK(Better(Goal::kMaximize, high, low));
  CHECK_FALSE(Better(Goal::kMaximize, low, high));
}

TEST_CASE("objective: a tie is no improvement") {
  for (Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
    CHECK_FALSE(Better(goal, Objective::Of(1), Objective::Of(1)));
    CHECK_FALSE(Better(goal, Objective::Of(0.0), Objective::Of(-0.0)));
    CHECK_FALSE(Better(goal, Objective::Of(-0.0), Objective::Of(0.0)));
  }
}

TEST_CASE("objective: NaN, infinities and missing are worst, whatever the goal") {
  // +inf is no best value of a maximised metric, and -inf no best loss.
  for (Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
    for (const Objective& worst : WorstOnes()) {
      for (double x : {0.0, -1e308, 1e308, 5e-324}) {
        CHECK(Better(goal, Objective::Of(x), worst));
        CHECK_FALSE(Better(goal, worst, Objective::Of(x)));
      }
      for (const Objective& other : WorstOnes()) {
        CHECK_FALSE(Better(goal, worst, other));
      }
    }
  }
}

TEST_CASE("objective: numbers come back, whatever they are") {
  for (double x : {0.0, -0.0, 5e-324, 1.7976931348623157e308, 9007199254740993.0}) {
    CHECK(Objective::Of(x).AsDouble() == x);
    CHECK(std::signbit(Objective::Of(x).AsDouble()) == std::signbit(x));
    CHECK(Objective::Of(x).finite());
  }
  CHECK(Objective::Of(kInf).AsDouble() == kInf);
  CHECK(Objective::Of(-kInf).AsDouble() == -kInf);
  CHECK(std::isnan(Objective::Of(std::nan("")).AsDouble()));
  CHECK(std::isnan(Objective::Missing().AsDouble()));
  CHECK(Objective::Missing().missing());
  CHECK_FALSE(Objective::Of(std::nan("")).missing());
}

TEST_CASE("objective: equality holds for NaN too, so records can be compared") {
  CHECK(Objective::Of(std::nan("")) == Objective::Of(std::nan("")));
  CHECK(Objective::Of(std::nan("")) != Objective::Missing());
  CHECK(Objective::Of(kInf) != Objective::Of(-kInf));
}

TEST_CASE("objective: kinds come back from their names") {
  for (NumberKind kind : {NumberKind::kFinite,
                          NumberKind::kNan,
                          NumberKind::kPosInf,
                          NumberKind::kNegInf,
                          NumberKind::kMissing}) {
    CHECK(NumberKindFromString(ToString(kind)) == kind);
  }
  CHECK_FALSE(NumberKindFromString("nan?").has_value());
  CHECK(ToString(Goal::kMinimize) == "minimize");
  CHECK(ToString(Goal::kMaximize) == "maximize");
}

}  // namespace
}  // namespace hyperopt
