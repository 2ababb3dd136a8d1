// What a search file would do, without doing it.
#pragma once

#include "executors/local_resources.h"
#include "search/commands/start.h"

namespace hyperopt {

struct CheckOptions {
  ConfigOptions config;
  bool dry_run = false;     // the first ten configurations too
  ResourceFlags resources;  // of the executor that would run
};

// "tpe", "auto: gp, from trial 300 on tpe".
std::string SamplerText(const SearchConfig& config);

// Prints the exact trial count, what one trial needs and how many fit on this machine,
// the rungs and all notes; runs nothing. Without `command` the built-in trainer checks
// the model's keys. 0, or 2 where something is wrong: then the errors are on stderr.
int CheckCommand(const CheckOptions& options);

}  // namespace hyperopt
