// Questions of the command line to a living controller, and its answers: JSON objects
// over the request socket (executors/transport.h, Ask).
//
//   {"op": "status"}                        -> what StatusToJson gives, and "pid"
//   {"op": "explain", "trial": 3}           -> {"lines": ["trial 3 is pending", ...]}
//   {"op": "stop", "kind": "interrupt"}     -> {"stopping": true}; or "drain"
//   a change (change_json.h)                -> {"lines": ["added: trial 12"]}
//   anything else                           -> {"error": "..."}
//
// While the record can not be written, an answer has "held" beside it: why. A change is
// then refused; one that was taken in just before has "held" beside its lines: it is
// done once the record can be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/controller.h"
#include "trial/clock.h"

namespace hyperopt {

// The answer, to be sent once the next turn is committed; what the request asks of the
// controller beside a change is appended to `events`, to be handled by the caller.
// `held`: why the record can not be written, "" where it can. Never throws for what
// `request` says.
std::string AnswerRequest(std::string_view request,
                          Controller& controller,
                          Now now,
                          const std::string& held,
                          std::vector<ControllerEvent>* events);

// An answer that waited for a commit which does not come about.
std::string WithHeld(const std::string& answer, const std::string& held);

}  // namespace hyperopt
