#include "search/amend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "search/proposals.h"

namespace hyperopt {
namespace {

constexpr std::array<std::string_view, 3> kAmendable = {
    "command", "hyperopt.parameters", "hyperopt.search_alg"};

// Its proposals are a list to be run through, so that none need come twice.
bool RunsThrough(const SearchConfig& config) {
  if (config.sampler.kind != SamplerKind::kRandom) {
    return config.sampler.kind == SamplerKind::kGrid ||
           config.sampler.kind == SamplerKind::kList;
  }
  const auto parameters = config.space.parameters();
  return !parameters.empty() && std::ranges::all_of(parameters, [](const auto& each) {
    return std::holds_alternative<GridDomain>(each.domain);
  });
}

// Proposals whose very parameters a trial of the record has.
std::set<int64_t> AlreadyRun(const SearchConfig& config,
                             const TrialStore& store,
                             const RecordSnapshot& record) {
  std::vector<TrialId> ids;
  for (const TrialRow& row : record.trials) ids.push_back(row.id);
  const std::vector<Params> params = store.LoadParams(ids);
  const std::set<Params> ran(params.begin(), params.end());
  const auto sampler = MakeSampler(config.space, config.sampler);
  std::set<int64_t> done;
  for (int64_t i = 0; i < sampler->TrialCount().value_or(0); ++i) {
    const std::optional<Params> proposal = sampler->Suggest(TrialId(i), History{});
    if (proposal && ran.contains(*proposal)) done.insert(i);
  }
  return done;
}

std::vector<std::string> WordsOf(const SearchSpace& old, const SearchSpace& space) {
  std::vector<std::string> lines;
  for (const Parameter& parameter : old.parameters()) {
    if (space.Find(parameter.name) != nullptr) continue;
    lines.push_back("removed: " + parameter.name);
  }
  for (const Parameter& parameter : space.parameters()) {
    const Parameter* before = old.Find(parameter.name);
    if (before == nullptr) {
      lines.push_back(
          fmt::format("added: {}, {}", parameter.name, Describe(parameter.domain)));
    } else if (before->when != parameter.when) {
      lines.push_back("changed: when " + parameter.name + " takes part");
    } else if (before->domain != parameter.domain) {
      lines.push_back(fmt::format("changed: {}, {} -> {}",
                                  parameter.name,
                                  Describe(before->domain),
                                  Describe(parameter.domain)));
    }
  }
  return lines;
}

}  // namespace

bool MayBeAmended(const std::string& setting) {
  return std::ranges::any_of(kAmendable, [&](std::string_view name) {
    return setting.starts_with(name) &&
           (setting.size() == name.size() || setting[name.size()] == '.');
  });
}

std::vector<std::string> BeginEra(const SearchConfig& old,
                                  const SearchConfig& config,
                                  const TrialStore& store,
                                  RecordSnapshot* record) {
  Era era;
  era.first = std::ssize(record->trials);
  era.resolved_before = record->sweep.resolved;
  if (RunsThrough(config)) {
    era.skipped = AlreadyRun(config, store, *record);
  } else {
    // Draws depend on the number: those that were made are not made again.
    era.offset = std::ranges::count_if(record->trials, IsProposed);
  }
  AppendEra(era, &record->sweep);
  std::vector<std::string> lines = WordsOf(old.space, config.space);
  if (!era.skipped.empty()) {
    lines.push_back(fmt::format("{} of the grid have run already", era.skipped.size()));
  }
  if (old.sampler.points_to_evaluate != config.sampler.points_to_evaluate &&
      !RunsThrough(config)) {
    lines.push_back(
        "points_to_evaluate: new points are not run; add them with hyperopt add "
        "--params");
  }
  const auto sampler = MakeSampler(config.space, config.sampler);
  const int64_t left =
      CursorAfter(era, record->trials)
          .Left(sampler->TrialCount().value_or(config.sampler.num_samples));
  const char* nothing_left =
      config.sampler.kind == SamplerKind::kList
          ? "no trial is left to propose: write more rows, or add some with hyperopt "
            "add --params or --csv"
          : "no trial is left to propose: raise num_samples, or add some with hyperopt "
            "add --trials N";
  lines.push_back(left == 0
                      ? nothing_left
                      : fmt::format("{} trials stay as they are, {} are proposed anew",
                                    record->trials.size(),
                                    left));
  return lines;
}

}  // namespace hyperopt
