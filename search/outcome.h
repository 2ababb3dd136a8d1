// What the end of an attempt makes of its trial: a pure table.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "executors/messages.h"
#include "search/config.h"
#include "search/scheduler.h"
#include "trial/measurement.h"
#include "trial/record.h"
#include "trial/state.h"

namespace hyperopt {

struct Outcome {
  TrialState state = TrialState::kFailed;
  Reason reason = Reason::kNone;
  std::string detail;      // for a person
  bool own_fault = false;  // counts against max_failures
  bool lost = false;       // counts against max_lost
  std::string
      run_outcome;  // for the run's row: "exit", "signal", "lost", "stopped", ...
};

// Who asked for the end decides, not the exit code:
//   a committed stop (row.stopping)    -> stopped, or completed where it reached max_t,
//                                         or paused where it reached its rung
//   asked by the executor or keeper    -> pending (interrupted, preempted), uncounted
//   lost                               -> pending until max_lost, then failed
//   over the wall limit                -> stopped where it has a value, else failed
//   exit 0 with a finite value         -> completed; without one: failed, and why
//   own fault                          -> pending while tries are left, else failed
// `seen` are the numeric fields that its reports carried; `metric` the one that
// decides.
Outcome DecideOutcome(const TrialRow& row,
                      const ExitInfo& info,
                      const ExecutorOptions& options,
                      const std::string& metric,
                      const std::set<std::string>& seen,
                      const Oddities& odd = {});

// "`loss` never came; seen: eval_loss; did you mean eval_loss?"; with what was read and
// not understood, `odd`, where there is such.
std::string NeverCame(const std::string& metric,
                      const std::set<std::string>& seen,
                      const Oddities& odd = {});

// "3 lines were no reports (2 of another form, 1 over 1 MiB); the first: oops", or what
// a reader says of its files or expressions; "" where there is nothing odd.
std::string OddText(const Oddities& odd);
// The detail of an event "odd lines", to JSON and back.
std::string OddToJson(const Oddities& odd);
Oddities OddFromJson(std::string_view detail);

// Whether a trial that is told to stop for this is complete: it reached what it was run
// for.
bool Completes(Reason reason);
// Why a trial is told to stop by a verdict; nullopt where it goes on.
std::optional<Reason> ReasonOf(Decision decision);
// "at max_t", "at the target", "converged". REQUIRES: Completes(reason).
std::string CompleteText(Reason reason);

// Why a trial is in its state, for a person, said once: "exit code 3", "pruned", "tried
// again: exit code 3"; "" where there is nothing to say.
std::string WhyText(const TrialRow& row);
// What a trial with a parent is: "a changed copy of trial 3". REQUIRES: row.parent.
std::string ParentText(const TrialRow& row, int64_t repeats);
// "trial 4 failed: exit code 3", "trial 0 completed: at max_t".
std::string StateText(const TrialRow& row);

}  // namespace hyperopt
