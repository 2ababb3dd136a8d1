// A question to the controller that runs a sweep.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "trial/json.h"

namespace hyperopt {

// The answer (search/requests.h); nullopt where no controller runs, or it runs on
// another host, or does not answer in time. Throws ConfigError with the controller's
// words where it refuses the request.
std::optional<OrderedJson> AskController(const std::filesystem::path& dir,
                                         const OrderedJson& request,
                                         double timeout_s = 5);

}  // namespace hyperopt
