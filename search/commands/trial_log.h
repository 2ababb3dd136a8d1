// Where what trials report is kept for another program: what `export` and the loggers
// of a running sweep (commands/logger_command.h) share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "search/commands/export_curves.h"
#include "search/commands/recorded_sweep.h"
#include "trial/errors.h"
#include "trial/record.h"
#include "trial/space.h"

namespace hyperopt {

// What a log says of the sweep itself.
struct LoggedSweep {
  std::string id, name, metric;
  WallTime created = 0;
  std::filesystem::path dir;
  std::vector<Parameter> parameters;
};
LoggedSweep LoggedSweepOf(const RecordedSweep& sweep);

// A trial as the record has it now.
struct LoggedTrial {
  TrialRow row;
  Params params;
  std::string executor;  // of its newest launch; "" before the first
  std::vector<LoggedValue> values;
};

class TrialLog {
 public:
  virtual ~TrialLog() = default;
  // Brings what is there up to this state of the trial: what is there already stays and
  // is not written twice, whoever wrote it and wherever that ended, so the same call
  // may be made again after a throw, a kill, or in another process. Blocks. Throws
  // Error, and RefusedTrial where only this trial can not be logged.
  virtual void Put(const LoggedTrial& trial) = 0;
  // Where it goes, for a person.
  virtual std::string Where() const = 0;
};

// The others can be logged all the same.
class RefusedTrial : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace hyperopt
