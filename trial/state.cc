#include "trial/state.h"

#include <array>
#include <utility>

namespace hyperopt {
namespace {

constexpr std::array<std::pair<TrialState, std::string_view>, 6> kStates{{
    {TrialState::kPending, "pending"},
    {TrialState::kRunning, "running"},
    {TrialState::kPaused, "paused"},
    {TrialState::kCompleted, "completed"},
    {TrialState::kStopped, "stopped"},
    {TrialState::kFailed, "failed"},
}};

constexpr std::array<std::pair<Reason, std::string_view>, 24> kReasons{{
    {Reason::kNone, ""},
    {Reason::kPruned, "pruned"},
    {Reason::kBudget, "budget"},
    {Reason::kUser, "user"},
    {Reason::kReplaced, "replaced"},
    {Reason::kMaxTime, "max_t"},
    {Reason::kTarget, "target"},
    {Reason::kConverged, "converged"},
    {Reason::kRung, "rung"},
    {Reason::kPromoted, "promoted"},
    {Reason::kInterrupted, "interrupted"},
    {Reason::kPreempted, "preempted"},
    {Reason::kExecutorLost, "executor lost"},
    {Reason::kRetry, "retry"},
    {Reason::kRerun, "rerun"},
    {Reason::kExitCode, "exit code"},
    {Reason::kSignal, "signal"},
    {Reason::kHostMemory, "host memory"},
    {Reason::kDeviceMemory, "device memory"},
    {Reason::kNoMetric, "no metric"},
    {Reason::kNotFinite, "metric not finite"},
    {Reason::kWallLimit, "wall limit"},
    {Reason::kCouldNotStart, "could not start"},
    {Reason::kTooManyLost, "lost too often"},
}};

template <typename Enum, size_t N>
std::string_view NameIn(const std::array<std::pair<Enum, std::string_view>, N>& names,
                        Enum value) {
  for (const auto& [key, name] : names) {
    if (key == value) return name;
  }
  return "";
}

template <typename Enum, size_t N>
std::optional<Enum> ValueIn(
    const std::array<std::pair<Enum, std::string_view>, N>& names,
    std::string_view text) {
  for (const auto& [key, name] : names) {
    if (name == text) return key;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToString(TrialState state) { return NameIn(kStates, state); }
std::string_view ToString(Reason reason) { return NameIn(kReasons, reason); }

std::optional<TrialState> TrialStateFromString(std::string_view text) {
  return ValueIn(kStates, text);
}
std::optional<Reason> ReasonFromString(std::string_view text) {
  return ValueIn(kReasons, text);
}

bool CanTransition(TrialState from, TrialState to) {
  using enum TrialState;
  switch (from) {
    case kPending:
      // The last four: the end of the unsuperseded attempt arrives late.
      return to == kRunning || to == kStopped || to == kCompleted || to == kFailed ||
             to == kPaused;
    case kRunning:
      return to != kRunning;
    case kPaused:
      return to == kPending || to == kStopped || to == kCompleted;
    case kFailed:
      return to == kPending;
    case kCompleted:
    case kStopped:
      return false;
  }
  return false;
}

bool IsFinished(TrialState state) {
  return state == TrialState::kCompleted || state == TrialState::kStopped ||
         state == TrialState::kFailed;
}

}  // namespace hyperopt
