// What a record says of trials that run in pieces: which went on, which gave its place
// to a copy of another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial/ids.h"
#include "trial/store.h"

namespace hyperopt {

// Where a copy of another trial begins.
struct CloneStart {
  std::string checkpoint;  // its folder, relative to the sweep's
  int64_t step = 0;        // of the checkpoint
  int64_t time = 0;        // units of time_attr that are done there
};

struct PieceEvent {
  enum class Kind {
    kPaused,    // an attempt ended, and its trial waits
    kEnded,     // it is finished
    kPromoted,  // it goes on
    kReplaced,  // `trial` is a copy of `parent`, in the place of `replaced`
  };
  Kind kind = Kind::kEnded;
  TrialId trial;
  std::optional<TrialId> replaced;
  std::optional<TrialId> parent;  // kPromoted: the one that left no checkpoint
  int64_t after = 0;              // rung entries that it was decided by
  bool more = false;              // trials were left to propose
  CloneStart clone;
};

// In their order. Throws EnvironmentError where the record's words are damaged.
std::vector<PieceEvent> RecordedPieces(const TrialStore& store);
// What each copy began with.
std::map<TrialId, CloneStart> RecordedClones(const TrialStore& store);

}  // namespace hyperopt
