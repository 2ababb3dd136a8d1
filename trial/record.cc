#include "trial/record.h"

namespace hyperopt {

std::string_view ToString(SweepState state) {
  switch (state) {
    case SweepState::kRunning:
      return "running";
    case SweepState::kInterrupted:
      return "interrupted";
    case SweepState::kFinished:
      return "finished";
    case SweepState::kFailed:
      return "failed";
  }
  return "";
}

std::optional<SweepState> SweepStateFromString(std::string_view text) {
  for (const SweepState state : {SweepState::kRunning,
                                 SweepState::kInterrupted,
                                 SweepState::kFinished,
                                 SweepState::kFailed}) {
    if (text == ToString(state)) return state;
  }
  return std::nullopt;
}

}  // namespace hyperopt
