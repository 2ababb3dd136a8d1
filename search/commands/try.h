// `hyperopt try`: one trial in the foreground, run exactly as a sweep would run it, and
// nothing of it recorded.
//
// It is a whole sweep of one trial in a temporary folder: the same loop, executor,
// keeper, environment and readers. While it runs its output goes to the terminal; at
// its end the record is asked what was seen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/local_resources.h"
#include "search/commands/start.h"
#include "search/commands/trial_facts.h"

namespace hyperopt {

struct TryOptions {
  ConfigOptions config;
  std::optional<std::string> params;  // JSON; what it leaves out is as first proposed
  std::optional<double> stop_after_s;
  bool keep = false;  // the temporary folder
  ResourceFlags resources;
};

// 0 where a sweep would have completed the trial; with stop_after_s where the stop
// signal ended it within its grace and the metric had come. 130 after Ctrl-C, else 1.
int TryCommand(const TryOptions& options);

// What is said of the trial at its end, for a person, lines of at most `width` columns.
// `device_memory` is the most that was seen, in bytes.
std::vector<std::string> TryReport(const TrialFacts& facts,
                                   const Oddities& odd,
                                   int64_t device_memory,
                                   size_t width);
// Lines of the trial's files that were no reports, by the record's events.
Oddities OddLines(const TrialStore& store);

// How long it took from the stop signal to the end of its last process. nullopt where
// none was sent.
std::optional<double> StopTook(const TrialFacts& facts);
// By the signal that can not be ignored, after its grace.
bool WasKilled(const TrialFacts& facts);

// "5s", "500ms", "2m", "1.5": seconds. nullopt where it is no such text.
std::optional<double> SecondsFromText(const std::string& text);

}  // namespace hyperopt
