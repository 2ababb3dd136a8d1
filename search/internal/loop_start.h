// What a run of a sweep settles before its loop begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executors/transport.h"
#include "search/config.h"
#include "search/run.h"
#include "trial/record.h"
#include "trial/resources.h"

namespace hyperopt::internal {

// The file's command, or the built-in trainer beside this program.
std::vector<std::string> CommandOf(const SearchConfig& config);

// What is wrong with --listen and --key is said before anything of the folder is
// touched. Throws ConfigError, EnvironmentError.
ServerOptions CheckedServer(const RunOptions& options);

// `resume --trials +N`, and what was added by earlier ones: sets config's num_samples.
void AddSamples(int64_t more, RecordSnapshot* record, SearchConfig* config);

// gpu_resources_per_trial absent = 1 where there are GPUs, and it is said.
void DecideGpus(const Resources& local, SearchConfig* config);

// Throws ConfigError where not even one trial fits an idle machine.
void RefuseWhatNeverFits(const ResourceRequest& request, const Resources& local);

}  // namespace hyperopt::internal
