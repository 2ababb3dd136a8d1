// The beginning of a sweep's record, and what a later start makes of it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/controller.h"
#include "search/sweep_folder.h"
#include "trial/store.h"

namespace hyperopt {

struct OpenedRecord {
  std::unique_ptr<TrialStore> store;
  RecordSnapshot snapshot;
  bool fresh = false;                // made just now
  std::vector<std::string> notes;    // lines for the user: what an edit changed
  std::vector<std::string> amended;  // what --amend changed; a new era has begun
};

enum class OldRecord {
  kResume,
  kStartOver,
  kAmend,  // goes on under an edited file (amend.h)
};

// Opens the record of `folder`, or makes one. An edited search file is treated by
// DESIGN's rule: limits, resources, retries and env apply with a line said; goal,
// metric, command, seed, dataset, parameters, search_alg and scheduler are refused
// (ConfigError with the differing keys and the ways out), unless nothing has happened
// yet: then the old folder is renamed.
//
// What `warm_start` names is read where the record is made, and taken from the record
// after that: config->sampler.known has it then.
OpenedRecord OpenRecord(SweepFolder* folder, SearchConfig* config, OldRecord old);

struct StartWants {
  bool history = false;       // the sampler needs it
  bool rerun_failed = false;  // failed trials run once more
};

// What the controller begins with. Takes the snapshot out of `record`, all but its
// sweep row: a long record is held once.
ControllerStart MakeControllerStart(const SearchConfig& config,
                                    OpenedRecord* record,
                                    const std::filesystem::path& sweep_dir,
                                    const std::vector<std::string>& command,
                                    const StartWants& wants);

// What executors are told. `command` is the file's, or the built-in trainer's.
SweepSpec MakeSweepSpec(const SearchConfig& config,
                        const SweepRow& sweep,
                        const std::filesystem::path& sweep_dir,
                        const std::vector<std::string>& command);

}  // namespace hyperopt
