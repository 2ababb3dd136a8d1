// Sweeps that the simulation's tests begin with, and what must hold after each.
#pragma once

#include <cstdint>

#include "tests/simulation/world.h"

namespace hyperopt::simulation {

SearchConfig BasicConfig(int64_t trials);

// Reports 1 .. n, one a second, that depend on the trial alone.
WorldOptions::Script PlainScript(TrialId trial, Attempt attempt);

// Two nodes of four CPUs, one CPU a trial, no faults.
WorldOptions Basic(int64_t trials, uint64_t seed);

// What `hyperopt verify` says of the record, and each result once, none lost. Completed
// trials must have reported all of their script in their last attempt.
void Audit(World& world, const WorldOptions& options);
// The part of it that also holds where attempts go on from checkpoints or report to
// several sources.
void AuditRecord(World& world, const WorldOptions& options);

int64_t CountState(World& world, TrialState state);

}  // namespace hyperopt::simulation
