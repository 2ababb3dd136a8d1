// What a sampler knows before its first trial: search_alg.evaluated_rewards,
// warm_start, and what a record holds of them.
#include <fmt/format.h>

#include <algorithm>

#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

bool Learns(SamplerKind kind) {
  return kind == SamplerKind::kAuto || kind == SamplerKind::kGp ||
         kind == SamplerKind::kCmaes || kind == SamplerKind::kTpe;
}

void ReadWarmStart(Section& alg, Reading& reading) {
  constexpr char kKey[] = "warm_start";
  const Value* paths = alg.Take(kKey);
  if (paths == nullptr) return;
  const std::vector<Value> one = {*paths};
  for (const Value& path : paths->is_list() ? paths->items : one) {
    if (!path.is_string() || path.text.empty()) {
      reading.problems.Add(path.place,
                           alg.PathOf(kKey),
                           "must be a list of sweeps' folders, as in [results/first], "
                           "not " +
                               Describe(path));
      continue;
    }
    reading.config.warm_start.push_back(
        (reading.folder / path.text).lexically_normal());
    reading.config.warm_start_places.push_back(reading.problems.Where(path.place) +
                                               ": " + alg.PathOf(kKey));
  }
  if (!Learns(reading.config.sampler.kind)) {
    alg.Fail(kKey,
             "has no use with this type, which learns from nothing: take auto, gp "
             "or tpe");
  }
}

// Results of other searches, as a record holds them.
void ReadRecorded(Section& alg, Reading& reading) {
  const Value* known = alg.Take("known");
  if (known == nullptr) return;
  for (const Value& value : known->items) {
    const Value* params = value.Find("params");
    const Value* state = value.Find("state");
    const auto parsed =
        state == nullptr ? std::nullopt : TrialStateFromString(state->text);
    if (params == nullptr || !params->is_map() || !parsed) {
      reading.problems.Add(value.place,
                           alg.PathOf("known"),
                           "must be maps of params, state, value and step");
      continue;
    }
    HistoryEntry entry{.trial = kWarm, .state = *parsed};
    for (const Entry& each : params->entries) {
      const Parameter* parameter = reading.config.space.Find(each.key);
      const auto read = ToParamValue(each.value);
      if (parameter != nullptr && read) {
        entry.params[each.key] = Typed(parameter->domain, *read);
      }
    }
    const Value* result = value.Find("value");
    const auto number = result == nullptr ? std::nullopt : AsNumber(*result);
    if (number) entry.objective = Objective::Of(*number);
    const Value* step = value.Find("step");
    entry.step = step == nullptr ? 0 : AsInt(*step).value_or(0);
    reading.config.sampler.known.push_back(std::move(entry));
  }
}

// What is known already is not run: a point with a reward becomes history.
void ReadRewards(Section& alg, Reading& reading) {
  constexpr char kKey[] = "evaluated_rewards";
  const Value* rewards = alg.Take(kKey);
  if (rewards == nullptr || reading.config.space.size() == 0) return;
  SamplerOptions& sampler = reading.config.sampler;
  std::vector<Params>& points = sampler.points_to_evaluate;
  if (points.empty()) {
    alg.Fail(kKey, "are the results of points_to_evaluate, and there are none");
    return;
  }
  if (!rewards->is_list() || rewards->items.size() != points.size()) {
    alg.Fail(kKey,
             fmt::format("must be a list of {} numbers, one for each of "
                         "points_to_evaluate; null for one that is to be run",
                         points.size()));
    return;
  }
  if (!Learns(sampler.kind)) {
    reading.problems.Note(
        "hyperopt.search_alg.evaluated_rewards: this type learns from nothing, so "
        "these "
        "points are left out and not run");
  }
  std::vector<Params> to_run;
  for (size_t i = 0; i < points.size(); ++i) {
    const Value& reward = rewards->items[i];
    const std::string path = fmt::format("{}.{}", alg.PathOf(kKey), i);
    if (reward.is_null()) {
      to_run.push_back(points[i]);
    } else if (!AsNumber(reward)) {
      reading.problems.Add(
          reward.place, path, "must be a number, or null, not " + Describe(reward));
    } else if (reading.bad_points.contains(i)) {
      continue;
    } else if (reading.config.space.Active(points[i]).size() != points[i].size() ||
               std::ranges::any_of(
                   reading.config.space.parameters(), [&](const Parameter& each) {
                     return !points[i].contains(each.name) &&
                            reading.config.space.TakesPart(each, points[i]);
                   })) {
      reading.problems.Add(
          reward.place, path, "is of a point that does not name all parameters");
    } else {
      HistoryEntry entry;
      entry.trial = kEvaluated;
      entry.state = TrialState::kCompleted;
      entry.params = points[i];
      entry.objective = Objective::Of(*AsNumber(reward));
      sampler.known.push_back(std::move(entry));
    }
  }
  points = std::move(to_run);
}

}  // namespace

void ReadKnown(Section& alg, Reading& reading) {
  ReadRewards(alg, reading);
  ReadWarmStart(alg, reading);
  ReadRecorded(alg, reading);
}

}  // namespace hyperopt::internal
