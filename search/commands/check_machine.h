// What `check` tries on this machine: the lines of `setup:`, and what is free on its
// devices.
#pragma once

#include <string>
#include <vector>

#include "executors/messages.h"
#include "executors/setup_environment.h"
#include "search/config.h"

namespace hyperopt {

// Runs the setup as an executor of this machine would, in a folder that is gone
// afterwards. Where the file has none: this process's environment.
SetupResult SetupHere(const SearchConfig& config);
// "ok; it sets PATH, VIRTUAL_ENV"
std::string SetupText(const SetupResult& setup);

// A line a real device: what is free on it and who holds the rest, or why that is not
// known. Empty where the file does not ask for memory of devices.
std::vector<std::string> MemoryOfDevices(const SearchConfig& config,
                                         const Resources& local);

}  // namespace hyperopt
