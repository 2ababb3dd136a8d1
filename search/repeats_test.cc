#include "search/repeats.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RepeatEnd Done(double value) {
  return {.state = TrialState::kCompleted, .value = Objective::Of(value)};
}
RepeatEnd Failed() { return {.state = TrialState::kFailed, .value = {}}; }

// Configurations whose first repeats have ended with these.
Race RaceWith(const std::vector<double>& values,
              int64_t repeats = 3,
              Goal goal = Goal::kMinimize) {
  Race race(repeats, goal, TrialId(0));
  for (size_t i = 0; i < values.size(); ++i) {
    const TrialId id(static_cast<int64_t>(i));
    race.OnCreated(id, std::nullopt);
    race.OnEnded(id, Done(values[i]));
  }
  return race;
}

std::optional<int64_t> NextOf(const Race& race, bool more = true) {
  const auto next = race.Next(more);
  return next ? std::optional(next->value()) : std::nullopt;
}

// One more repeat of `first`, which ends at once where a value is given.
TrialId Repeat(Race* race, int64_t id, int64_t first, std::optional<RepeatEnd> end) {
  race->OnCreated(TrialId(id), TrialId(first));
  if (end) race->OnEnded(TrialId(id), *end);
  return TrialId(id);
}

}  // namespace

TEST_CASE("a race: nobody is run again before there is something to compare with") {
  CHECK(NextOf(RaceWith({})) == std::nullopt);
  CHECK(NextOf(RaceWith({}), false) == std::nullopt);
  CHECK(NextOf(RaceWith({1, 2})) == std::nullopt);
  CHECK(NextOf(RaceWith({2, 1}), false) == 1);  // nobody else will come
  CHECK(NextOf(RaceWith({3, 1, 2})) == 1);
  CHECK(NextOf(RaceWith({3, 1, 2}, 3, Goal::kMaximize)) == 0);
  CHECK(NextOf(RaceWith({3, 1, 2}, 1)) == std::nullopt);
}

TEST_CASE("a race: the best third gets a second, the best ninth a third") {
  Race race = RaceWith({9, 8, 7, 6, 5, 4, 3, 2, 1});
  int64_t id = 9;
  std::string got;
  while (const auto next = race.Next(true)) {
    got += std::to_string(next->value());
    // Each says once more what it said.
    const double value = 9 - static_cast<double>(next->value());
    Repeat(&race, id++, next->value(), Done(value));
  }
  CHECK(got == "8876");
}

TEST_CASE("a race: one that falls behind gets no more, one that comes up does") {
  Race race = RaceWith({1, 2, 3});
  REQUIRE(NextOf(race) == 0);
  Repeat(&race, 3, 0, Done(9));
  CHECK(race.Of(TrialId(3)).mean == 5);
  CHECK(race.Of(TrialId(3)).error == 4);
  CHECK(NextOf(race) == 1);
  CHECK(race.Leader()->first == TrialId(1));
}

TEST_CASE("a race: repeats that run are counted as started") {
  Race race = RaceWith({1, 2, 3});
  Repeat(&race, 3, 0, std::nullopt);
  CHECK(NextOf(race) == 0);
  Repeat(&race, 4, 0, std::nullopt);
  CHECK(NextOf(race) == std::nullopt);
  CHECK(race.RepeatOf(TrialId(4)) == 2);
}

TEST_CASE("a race: failures come last, and are run no more") {
  Race race = RaceWith({1, 2, 3});
  Repeat(&race, 3, 0, Failed());
  CHECK(race.Leader()->first == TrialId(1));
  CHECK(NextOf(race) == 1);
  const auto ranked = race.Ranked();
  REQUIRE(ranked.size() == 3);
  CHECK(ranked.back()->first == TrialId(0));
  CHECK(ranked.back()->values == std::vector<double>{1});
  SUBCASE("a value that is no number is one") {
    Repeat(&race, 4, 1, Done(kNan));
    CHECK(race.Leader()->first == TrialId(2));
  }
  SUBCASE("run once more it is none") {
    race.OnReopened(TrialId(3));
    CHECK(race.Leader()->first == TrialId(0));
    race.OnEnded(TrialId(3), Done(1));
    CHECK(race.Of(TrialId(0)).error == 0);
  }
  SUBCASE("all failed: there is one to show, and none that is run again") {
    race.OnEnded(TrialId(1), Failed());
    race.OnEnded(TrialId(2), Failed());
    CHECK(race.Leader()->first == TrialId(0));
    CHECK(NextOf(race, false) == std::nullopt);
  }
}

TEST_CASE("a race: what was stopped before it had a value counts for nothing") {
  Race race = RaceWith({1, 2, 3});
  Repeat(&race, 3, 0, RepeatEnd{.state = TrialState::kStopped, .value = {}});
  CHECK_FALSE(race.Of(TrialId(0)).failed);
  CHECK(race.Leader()->values.size() == 1);
  race.OnCreated(TrialId(4), std::nullopt);
  race.OnEnded(TrialId(4), {.state = TrialState::kStopped, .value = {}});
  CHECK_FALSE(race.Of(TrialId(4)).known());
  CHECK(race.Ranked().size() == 3);
}

TEST_CASE("a race: ties go to more results, then to the lower number") {
  Race race = RaceWith({1, 1, 1});
  CHECK(race.Leader()->first == TrialId(0));
  Repeat(&race, 3, 2, Done(1));
  CHECK(race.Leader()->first == TrialId(2));
  CHECK(race.Leader()->best == TrialId(2));
}

TEST_CASE("a race: an earlier era stands and gets no more") {
  Race race(3, Goal::kMinimize, TrialId(2));
  for (int64_t i = 0; i < 5; ++i) {
    race.OnCreated(TrialId(i), std::nullopt);
    race.OnEnded(TrialId(i), Done(static_cast<double>(i)));
  }
  CHECK(race.Leader()->first == TrialId(0));
  CHECK(NextOf(race) == 2);
}

TEST_CASE("a mean is exact for equal values, and does not overflow") {
  Race race = RaceWith({0.1});
  Repeat(&race, 1, 0, Done(0.1));
  Repeat(&race, 2, 0, Done(0.1));
  CHECK(race.Of(TrialId(0)).mean == 0.1);
  CHECK(race.Of(TrialId(0)).error == 0);
  Race large = RaceWith({1.7e308});
  Repeat(&large, 1, 0, Done(1.7e308));
  CHECK(large.Of(TrialId(0)).mean == 1.7e308);
}

// ---- the rules once more, by brute force ----

namespace {

enum class Mutant { kNone, kTie, kFailure, kUnfinished };

struct Trial {
  int64_t first = 0;
  std::optional<RepeatEnd> end;
};

struct Reference {
  int64_t repeats = 3;
  Goal goal = Goal::kMinimize;
  Mutant mutant = Mutant::kNone;

  struct Row {
    int64_t first = 0;
    bool failed = false;
    double mean = 0, count = 0;
    int64_t started = 0;
  };

  std::vector<Row> Ranked(const std::vector<Trial>& trials) const {
    std::vector<Row> rows;
    for (size_t i = 0; i < trials.size(); ++i) {
      const int64_t first = trials[i].first;
      auto at = std::ranges::find(rows, first, &Row::first);
      if (at == rows.end()) {
        rows.push_back({first});
        at = std::prev(rows.end());
      }
      const auto& end = trials[i].end;
      if (mutant != Mutant::kUnfinished || end) ++at->started;
      if (!end) continue;
      const bool value = end->value.finite();
      const bool failed =
          end->state == TrialState::kFailed || (!value && !end->value.missing());
      if (failed && mutant != Mutant::kFailure) at->failed = true;
      if (failed || !value) continue;
      ++at->count;
      at->mean = at->mean + (end->value.value / at->count - at->mean / at->count);
    }
    std::erase_if(rows, [](const Row& row) { return !row.failed && row.count == 0; });
    std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
      if (a.failed != b.failed) return b.failed;
      if ((a.count == 0) != (b.count == 0)) return b.count == 0;
      if (a.mean != b.mean) {
        return goal == Goal::kMinimize ? a.mean < b.mean : a.mean > b.mean;
      }
      if (a.count != b.count) return a.count > b.count;
      return mutant == Mutant::kTie ? a.first > b.first : a.first < b.first;
    });
    return rows;
  }

  std::optional<TrialId> Next(const std::vector<Trial>& trials, bool more) const {
    const std::vector<Row> rows = Ranked(trials);
    if (more && rows.size() < 3) return std::nullopt;
    for (size_t before = 0; before < rows.size(); ++before) {
      const Row& row = rows[before];
      if (row.failed || row.count == 0 || row.started >= repeats) continue;
      const double k = std::floor(static_cast<double>(rows.size()) /
                                  std::pow(3, static_cast<double>(row.started)));
      if (static_cast<double>(before) < std::max(1.0, k)) return TrialId(row.first);
    }
    return std::nullopt;
  }
};

// Whether the race decides as the reference in a sweep of chance; in each step a slot
// is filled or a trial ends. A race that was rebuilt in another order agrees.
bool AgreesOn(uint64_t seed, Mutant mutant) {
  Rng rng(seed, TrialId(0), "race");
  Reference reference;
  reference.repeats = 2 + static_cast<int64_t>(rng.Below(4));
  reference.goal = rng.Below(2) == 0 ? Goal::kMinimize : Goal::kMaximize;
  reference.mutant = mutant;
  Race race(reference.repeats, reference.goal, TrialId(0));
  std::vector<Trial> trials;
  std::vector<int64_t> running;
  int64_t left = 3 + static_cast<int64_t>(rng.Below(25));
  const uint64_t slots = 1 + rng.Below(5);
  while (true) {
    const auto due = race.Next(left > 0);
    if (due != reference.Next(trials, left > 0)) return false;
    const bool may_start = running.size() < slots && (due || left > 0);
    if (!may_start && running.empty()) return true;
    if (may_start && (running.empty() || rng.Below(2) == 0)) {
      const TrialId id(std::ssize(trials));
      race.OnCreated(id, due);
      trials.push_back({due ? due->value() : id.value(), {}});
      left -= due ? 0 : 1;
      running.push_back(id.value());
      continue;
    }
    const auto at = running.begin() + static_cast<int64_t>(rng.Below(running.size()));
    RepeatEnd end = Done(static_cast<double>(rng.Below(5)) / 4);  // with many ties
    const uint64_t kind = rng.Below(20);
    if (kind == 0) end = Failed();
    if (kind == 1) end = Done(kNan);
    if (kind == 2) end = {.state = TrialState::kStopped, .value = {}};
    if (kind == 3) end.state = TrialState::kStopped;
    race.OnEnded(TrialId(*at), end);
    trials[static_cast<size_t>(*at)].end = end;
    running.erase(at);
    Race again(reference.repeats, reference.goal, TrialId(0));
    for (int64_t i = 0; i < std::ssize(trials); ++i) {
      const int64_t first = trials[static_cast<size_t>(i)].first;
      again.OnCreated(TrialId(i),
                      first == i ? std::nullopt : std::optional(TrialId(first)));
    }
    for (int64_t i = std::ssize(trials) - 1; i >= 0; --i) {
      if (const auto& each = trials[static_cast<size_t>(i)].end) {
        again.OnEnded(TrialId(i), *each);
      }
    }
    for (const bool more : {false, true}) {
      if (again.Next(more) != race.Next(more)) return false;
    }
  }
}

}  // namespace

TEST_CASE("a race decides by its rules, restored after every event") {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    REQUIRE(AgreesOn(seed, Mutant::kNone));
  }
  for (const Mutant mutant : {Mutant::kTie, Mutant::kFailure, Mutant::kUnfinished}) {
    CAPTURE(static_cast<int>(mutant));
    bool seen = false;
    for (uint64_t seed = 0; seed < 300 && !seen; ++seed) seen = !AgreesOn(seed, mutant);
    CHECK(seen);
  }
}

}  // namespace hyperopt
