// Questions of the command line to a living controller, and its answers: JSON objects
// over the request socket (executors/transport.h, Ask).
//
//   {"op": "status"}                        -> what StatusToJson gives, and "pid"
//   {"op": "explain", "trial": 3}           -> {"lines": ["trial 3 is pending", ...]}
//   {"op": "stop", "kind": "interrupt"}     -> {"stopping": true}; or "drain"
//   anything else                           -> {"error": "..."}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/controller.h"
#include "trial/clock.h"

namespace hyperopt {

// The answer; what the request asks of the controller is appended to `events`, to be
// handled by the caller. Never throws for what `request` says.
std::string AnswerRequest(std::string_view request,
                          const Controller& controller,
                          Now now,
                          std::vector<ControllerEvent>* events);

}  // namespace hyperopt
