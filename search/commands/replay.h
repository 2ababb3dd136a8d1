// A trial's recorded reports, told again as the controller heard them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/config.h"
#include "search/recorded_pieces.h"
#include "trial/objective.h"
#include "trial/record.h"

namespace hyperopt {

// What the scheduler is asked about one report. `time` is missing where the record
// alone does not tell it (time_total_s of a second attempt).
struct JudgedReport {
  std::optional<int64_t> time;
  Objective value;
  int32_t attempt = 0;
};

// What a trial's row says of its reports.
struct ReplayedTrial {
  int64_t reports = 0;
  Objective best, last;
  int64_t best_step = 0, last_step = 0;
  std::vector<JudgedReport> judged;  // in order; a step seen before is not judged
};

// `reports` in the order of their commit, `runs` of the same trial; `clone` where it is
// a copy of another.
ReplayedTrial ReplayReports(std::span<const ReportRow> reports,
                            std::span<const RunRow> runs,
                            const SearchConfig& config,
                            const CloneStart& clone = {});

}  // namespace hyperopt
