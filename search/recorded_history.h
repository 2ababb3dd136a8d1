// What samplers learn from, out of a sweep's record.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "samplers/sampler.h"
#include "search/config.h"
#include "search/repeats.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

struct RecordedEnd {
  int64_t event = 0;  // of its commit
  HistoryEntry entry;
  // A failure that was not the last word: the trial was run once more.
  bool was_rerun = false;
};
// The launch of a trial that had failed.
struct RecordedRerun {
  int64_t event = 0;
  TrialId trial;
};

// The finished trials in the order in which their ends were committed, as the
// controller that committed them holds them; where trials run in pieces also each time
// that one came to rest, with what it had reported by then, and where configurations
// are repeated each time that a repeat ended, with what its configuration then was.
// `trials` are those of the store, by id. A trial that the time budget ended before its
// first launch has no end and is not among them. Reads every event: for sweeps whose
// sampler needs its history.
std::vector<RecordedEnd> RecordedEnds(const TrialStore& store,
                                      std::span<const TrialRow> trials,
                                      const SearchConfig& config);

// The same with the failures of trials that were run once more, each trial for itself:
// what a sampler saw at some time follows from them.
struct RecordedPast {
  std::vector<RecordedEnd> ends;
  std::vector<RecordedRerun> reruns;  // in order
};
RecordedPast ReadPast(const TrialStore& store,
                      std::span<const TrialRow> trials,
                      const SearchConfig& config);
// A configuration stands anew each time that a repeat of it ends: makes of each end, in
// order, what its configuration then was. No trial ends twice.
void BecomeConfigurations(std::span<const TrialRow> trials,
                          const SearchConfig& config,
                          std::vector<RecordedEnd>* ends);
// Adds what is newest of its trial, in the place of what was known of it.
void PutNewest(HistoryEntry entry, std::vector<HistoryEntry>* ended);
// What a sampler knows of a trial that waits at a rung: how far it came, how good it
// is.
HistoryEntry RestOf(const TrialRow& row, const Params& params, ValueRule value);

// The configurations of a record; those of trials before `from` are of an earlier era.
Race RaceOf(std::span<const TrialRow> trials, const SearchConfig& config, TrialId from);
// Their parameters, by the first trial.
std::map<TrialId, Params> ConfigurationsOf(const TrialStore& store,
                                           std::span<const TrialRow> trials);
// What a sampler knows of a trial's configuration: it stands at the mean of what has
// ended, and is failed where a repeat failed, else stopped where one was.
HistoryEntry ConfigurationEntry(const Race& race, TrialId trial, const Params& params);

// The same, as samplers take it: the newest of each trial.
std::vector<HistoryEntry> EndedHistory(const TrialStore& store,
                                       std::span<const TrialRow> trials,
                                       const SearchConfig& config);

}  // namespace hyperopt
