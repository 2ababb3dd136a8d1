// TensorBoard's event files: a folder a trial, with its scalars and what the HParams
// tab reads.
#pragma once

#include <filesystem>
#include <string>

#include "search/commands/trial_log.h"

namespace hyperopt {

class TensorboardLog : public TrialLog {
 public:
  // How a trial stands is written as the end of its file.
  enum class Ends {
    kAlways,    // of a file that is complete
    kFinished,  // of a trial that is over; others go on
  };

  // Makes the folder and writes what holds for the whole sweep. Throws
  // EnvironmentError.
  TensorboardLog(LoggedSweep sweep, std::filesystem::path folder, Ends ends);

  // A file that this continues is appended to, so that TensorBoard goes on where it
  // was; any other of this name is replaced.
  void Put(const LoggedTrial& trial) override;
  std::string Where() const override;

 private:
  std::string TrialFile(const LoggedTrial& trial) const;

  const LoggedSweep sweep_;
  const std::filesystem::path folder_;
  const Ends ends_;
  const std::string file_name_;
};

}  // namespace hyperopt
