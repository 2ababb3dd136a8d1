// What the record knows of a trial's past, in lines for a person.
#pragma once

#include <optional>
#include <string>

#include "search/config.h"
#include "trial/record.h"

namespace hyperopt {

// "attempt 1: on vm, GPUs 0, ended after 42 s with exit code 0". `executor` is the
// run's, where it is known.
std::string RunLine(const RunRow& run,
                    const TrialRow& trial,
                    const std::optional<ExecutorRow>& executor);

// "rung 0 (at 1): 0.41 at 1, went on"; "patience: ended at 9 with 0.41".
std::string RungLine(const RungRow& rung, const SchedulerOptions& scheduler);

}  // namespace hyperopt
