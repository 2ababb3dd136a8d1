// Whether a record's verdicts of early stopping are those that its reports demand.
#pragma once

#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"

namespace hyperopt {

struct WrongVerdict {
  TrialId trial;
  std::string text;  // for a person, without the trial's number
};

// Every difference to what a fresh scheduler makes of the record: a verdict, an entry
// that is missing or that no report makes, an end that was not the scheduler's.
std::vector<WrongVerdict> WrongVerdicts(const RecordedSweep& sweep);

}  // namespace hyperopt
