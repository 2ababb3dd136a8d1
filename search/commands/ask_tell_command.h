// hyperopt ask-tell: trials for whoever runs them himself, over stdin and stdout.
#pragma once

#include <filesystem>
#include <optional>

#include "search/commands/start.h"

namespace hyperopt {

struct AskTellOptions {
  ConfigOptions config;
  std::optional<std::filesystem::path> output;  // the sweep's folder; none: no record
};

// Answers each line of stdin with one on stdout (ask_tell.h) until stdin ends. A file
// without `command` and without a model needs neither here.
int AskTellCommand(const AskTellOptions& options);

}  // namespace hyperopt
