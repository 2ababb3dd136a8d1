// Another sampler over the trials of a record.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "search/simulate.h"
#include "trial/json.h"

namespace hyperopt {

// What a sampler found in a table of recorded trials, and what an order of chance would
// have found there.
struct SampledTable {
  struct After {
    int64_t trials = 0;
    double recorded = 0;   // best so far, in the order of the record
    double random = 0;     // what it is in the mean of all orders
    double simulated = 0;  // in the mean of the seeds
  };
  int64_t trials = 0;  // in the table
  int64_t seeds = 0;
  double distance = 0;  // from what was proposed, in the mean
  std::vector<After> after;
  int64_t recorded_to_best = 0;  // how many trials it took to come to the best
  double random_to_best = 0, simulated_to_best = 0;
  double reports = 0, time = 0;  // of a run through the table, in the mean
};

// Throws ConfigError where there is nothing to choose among.
SampledTable SampleTable(const RecordedSweep& sweep,
                         const std::vector<KnownCurve>& curves,
                         const SearchConfig& config,
                         int64_t concurrency,
                         int64_t seeds);

void PrintSampledTable(const SampledTable& table, const SearchConfig& config);
OrderedJson SampledTableToJson(const SampledTable& table, const SearchConfig& config);

}  // namespace hyperopt
