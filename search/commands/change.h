// Carries out a change request (search/change_json.h): through the controller that
// lives, or, where none does, in the record itself.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trial/json.h"

namespace hyperopt {

struct Changed {
  std::vector<std::string> lines;
  bool live = false;  // a controller did it; else it holds from the next start
  bool none = false;  // there was nothing to change
  std::string held;   // taken in, and recorded once this is over: "disk full"
};

// Gives `request` a token of its own, so that it is done exactly once, also where the
// controller is killed before its answer has come. Throws ConfigError with the words of
// a refusal, EnvironmentError where the controller runs on another host, does not
// answer, or the record can not be written.
Changed ChangeSweep(const std::filesystem::path& dir, OrderedJson request);

// Prints it; the exit code: 0, and that of an environment error for what is not yet
// recorded.
int TellChanged(const std::filesystem::path& dir, const Changed& changed);

}  // namespace hyperopt
