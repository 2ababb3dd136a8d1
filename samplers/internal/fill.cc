#include "samplers/internal/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

// The first draw's streams are those of a space without constraints.
Params DrawOnce(const SearchSpace& space,
                const Params& given,
                uint64_t seed,
                TrialId key,
                int draw) {
  Params params = given;
  for (const Parameter& parameter : space.parameters()) {
    if (params.contains(parameter.name)) continue;
    const std::string stream =
        draw == 0 ? parameter.name : fmt::format("{}\n{}", parameter.name, draw);
    Rng rng(seed, key, stream);
    params[parameter.name] = Draw(parameter.domain, rng);
  }
  return space.Active(std::move(params));
}

}  // namespace

std::optional<Params> Fill(
    const SearchSpace& space, Params given, uint64_t seed, TrialId key, int draws) {
  for (auto& [name, value] : given) value = Typed(space.Find(name)->domain, value);
  for (int draw = 0; draw < draws; ++draw) {
    Params params = DrawOnce(space, given, seed, key, draw);
    if (space.Violated(params) == nullptr) return params;
    if (given.size() == space.size()) break;
  }
  return std::nullopt;
}

std::optional<std::string> ProblemWithConstraints(const SearchSpace& space,
                                                  uint64_t seed) {
  constexpr int kDraws = 10'000;
  constexpr int kEnough = 10;
  if (space.constraints().empty()) return std::nullopt;
  std::vector<int> failed(space.constraints().size());
  int good = 0;
  for (int draw = 0; draw < kDraws && good < kEnough; ++draw) {
    const Params params = DrawOnce(space, {}, seed, TrialId(0), draw);
    bool holds = true;
    for (size_t i = 0; i < failed.size(); ++i) {
      const bool each = space.constraints()[i].Holds(params);
      failed[i] += each ? 0 : 1;
      holds = holds && each;
    }
    good += holds ? 1 : 0;
  }
  if (good >= kEnough) return std::nullopt;
  std::string text =
      fmt::format("the constraints leave next to nothing: they hold for {} of {} draws",
                  good,
                  kDraws);
  for (size_t i = 0; i < failed.size(); ++i) {
    text +=
        fmt::format("; {} does not for {}", space.constraints()[i].text(), failed[i]);
  }
  return text + "; narrow the ranges instead, or loosen them";
}

}  // namespace hyperopt::internal
