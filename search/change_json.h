// Change requests as JSON: how the command line says them to a controller
// (search/requests.h).
//
//   {"op": "add", "token": T, "params": [{"lr": 0.1}, ...]}   or "samples": 5
//   {"op": "stop trials", "token": T, "trials": [3, 7]}
//   {"op": "pause", "token": T, "paused": true}
//   {"op": "set", "token": T, "limits": {"max_concurrent_trials": "1", "gpus": "0"}}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "search/change_request.h"
#include "trial/json.h"
#include "trial/record.h"

namespace hyperopt {

// nullopt where `request` asks for something else. Throws ConfigError where it is
// wrong. `now` is what holds in the sweep, `sweep` its row.
std::optional<ChangeRequest> ChangeFromJson(const OrderedJson& request,
                                            const SearchConfig& now,
                                            const SweepRow& sweep);

}  // namespace hyperopt
