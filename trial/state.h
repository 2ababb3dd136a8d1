// The states of a trial and the moves between them (DESIGN, "States of a trial").
#pragma once

#include <optional>
#include <string_view>

namespace hyperopt {

enum class TrialState { kPending, kRunning, kPaused, kCompleted, kStopped, kFailed };

// Why a trial is in its state, beside the state. Closed: a new reason is added here.
enum class Reason {
  kNone,
  // stopped
  kPruned,    // the scheduler's verdict
  kBudget,    // time budget of the sweep over
  kUser,      // stopped by a request
  kReplaced,  // a changed copy of a better trial took its place
  // completed: reached the scheduler's max_t and was told to end
  kMaxTime,
  // paused: it has run as far as it was launched for
  kRung,
  // pending again
  kPromoted,      // it was paused and goes on
  kInterrupted,   // first signal to the controller, or `stop`
  kPreempted,     // the node is needed for something else
  kExecutorLost,  // the attempt was lost with its executor or node
  kRetry,         // its own fault, and tries are left
  kRerun,         // --rerun-failed
  // failed
  kExitCode,       // ended with a code other than 0
  kSignal,         // ended by a signal that we did not send
  kHostMemory,     // 137 or the kernel's OOM killer
  kDeviceMemory,   // the trial's own words say that the device's memory was full
  kNoMetric,       // exit 0 and the metric never came
  kNotFinite,      // exit 0 and the metric was never finite
  kWallLimit,      // ran longer than a trial may
  kCouldNotStart,  // spawn failed: program missing, word too long, folder unwritable
  kTooManyLost,    // lost more than max_lost times
};

std::string_view ToString(TrialState state);
std::string_view ToString(Reason reason);
std::optional<TrialState> TrialStateFromString(std::string_view text);
std::optional<Reason> ReasonFromString(std::string_view text);

// True for the moves that may be recorded; a state never moves to itself.
bool CanTransition(TrialState from, TrialState to);

// No further launch is expected: completed, stopped or failed.
bool IsFinished(TrialState state);

}  // namespace hyperopt
