// Several objectives: what a trial has of each, and which trials no other beats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/outcome.h"
#include "trial/objective.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// Of each of config.objectives (those after the metric) the value that came last, in
// reports in the order of their commit; missing where none came. Empty where the metric
// is the only objective.
std::vector<Objective> OthersOf(std::span<const ReportRow> reports,
                                const SearchConfig& config);
// Takes what one report says over `others`, which has one for each of
// config.objectives, or none yet. `values` is ReportRow::values.
void TakeOthers(const std::string& values,
                const SearchConfig& config,
                std::vector<Objective>* others);

// Of several objectives one that never came, or was never finite at the last: "`b`
// never came"; nullopt where all are there.
std::optional<std::string> LackingObjective(std::span<const Objective> others,
                                            const SearchConfig& config);
// A trial that lacks one has failed, whatever it has of the others.
void RequireObjectives(std::span<const Objective> others,
                       const SearchConfig& config,
                       Outcome* outcome);

struct FrontTrial {
  TrialId trial;
  std::vector<double> values;  // of the metric, then of config.objectives
};

// The trials that no other dominates: completed or stopped ones with a finite value of
// each objective; by the metric, the best first. Empty where there is one objective.
std::vector<FrontTrial> ParetoFront(const TrialStore& store,
                                    std::span<const TrialRow> trials,
                                    const SearchConfig& config);
// The same where OthersOf each trial is known.
std::vector<FrontTrial> ParetoFront(std::span<const TrialRow> trials,
                                    std::span<const std::vector<Objective>> others,
                                    const SearchConfig& config);

// "minimize loss, maximize accuracy".
std::string ObjectivesText(const SearchConfig& config);

}  // namespace hyperopt
