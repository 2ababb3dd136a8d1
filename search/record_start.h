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
  bool fresh = false;              // made just now
  std::vector<std::string> notes;  // lines for the user: what an edit changed
};

enum class OldRecord { kResume, kStartOver };

// Opens the record of `folder`, or makes one. An edited search file is treated by
// DESIGN's rule: limits, resources, retries and env apply with a line said; goal,
// metric, command, seed, dataset, parameters, search_alg and scheduler are refused
// (ConfigError with the differing keys and the ways out), unless nothing has happened
// yet: then the old folder is renamed.
OpenedRecord OpenRecord(SweepFolder* folder, const SearchConfig& config, OldRecord old);

// What the controller needs beside the snapshot.
ControllerStart MakeControllerStart(const SearchConfig& config,
                                    const OpenedRecord& record,
                                    const std::filesystem::path& sweep_dir,
                                    const std::vector<std::string>& command);

// What executors are told. `command` is the file's, or the built-in trainer's.
SweepSpec MakeSweepSpec(const SearchConfig& config,
                        const SweepRow& sweep,
                        const std::filesystem::path& sweep_dir,
                        const std::vector<std::string>& command);

}  // namespace hyperopt
