#include "trial/state.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace hyperopt {
namespace {

using enum TrialState;

constexpr TrialState kAll[] = {
    kPending, kRunning, kPaused, kCompleted, kStopped, kFailed};

TEST_CASE("state: the moves between all pairs") {
  struct Row {
    TrialState from;
    bool to[6];  // in the order of kAll
  };
  constexpr Row kTable[] = {
      // to:       pending running paused completed stopped failed
      {kPending, {false, true, true, true, true, true}},
      {kRunning, {true, false, true, true, true, true}},
      {kPaused, {true, false, false, true, true, false}},
      {kCompleted, {false, false, false, false, false, false}},
      {kStopped, {false, false, false, false, false, false}},
      {kFailed, {true, false, false, false, false, false}},
  };
  for (const Row& row : kTable) {
    for (size_t i = 0; i < std::size(kAll); ++i) {
      CAPTURE(ToString(row.from));
      CAPTURE(ToString(kAll[i]));
      CHECK(CanTransition(row.from, kAll[i]) == row.to[i]);
    }
  }
}

TEST_CASE("state: finished are completed, stopped and failed") {
  for (TrialState state : kAll) {
    const bool finished = state == kCompleted || state == kStopped || state == kFailed;
    CHECK(IsFinished(state) == finished);
  }
}

TEST_CASE("state: names come back, and no two are alike") {
  std::set<std::string_view> names;
  for (TrialState state : kAll) {
    CHECK(TrialStateFromString(ToString(state)) == state);
    names.insert(ToString(state));
  }
  CHECK(names.size() == std::size(kAll));
  CHECK_FALSE(TrialStateFromString("Running").has_value());
  CHECK_FALSE(TrialStateFromString("").has_value());
}

TEST_CASE("state: every reason has a name that comes back") {
  std::set<std::string_view> names;
  int reasons = 0;
  // kTooManyLost is the last of the enum.
  for (int i = 0; i <= static_cast<int>(Reason::kTooManyLost); ++i) {
    const auto reason = static_cast<Reason>(i);
    CAPTURE(i);
    CHECK(ReasonFromString(ToString(reason)) == reason);
    names.insert(ToString(reason));
    ++reasons;
  }
  CHECK(names.size() == static_cast<size_t>(reasons));
  CHECK_FALSE(ReasonFromString("no such reason").has_value());
}

}  // namespace
}  // namespace hyperopt
