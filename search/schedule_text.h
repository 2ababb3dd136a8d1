// What a scheduler will do, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "search/config.h"

namespace hyperopt {

// Lines of a name and a text: what ends a trial, and the rungs where there are some.
std::vector<std::pair<std::string, std::string>> ScheduleLines(
    const SchedulerOptions& options);

// One rule without its rungs: "asha: the best 1/3 go past each rung, 81 is the end".
std::string RuleText(const SchedulerOptions& rule);

}  // namespace hyperopt
