// What `tracker:` sets: the variables that wandb and MLflow read themselves.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "executors/messages.h"

namespace hyperopt {

// Adds to `env`. A group, folder or experiment that `is_set` outside stays the user's;
// a run's own name and id are never inherited, since every trial would share them.
void AddTracker(const SweepSpec& sweep,
                const Launch& launch,
                const std::string& dir,
                const std::function<bool(std::string_view)>& is_set,
                std::map<std::string, std::string, std::less<>>& env);

}  // namespace hyperopt
