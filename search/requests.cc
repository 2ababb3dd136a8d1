#include "search/requests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "search/status.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

OrderedJson ErrorAnswer(std::string_view why) { return {{"error", why}}; }

OrderedJson AnswerExplain(const OrderedJson& request,
                          const Controller& controller,
                          Now now) {
  const auto trial = request.find("trial");
  if (trial == request.end() || !trial->is_number_integer()) {
    return ErrorAnswer("explain: `trial` must be a trial's number");
  }
  return {{"lines", controller.Explain(TrialId(trial->get<int64_t>()), now)}};
}

OrderedJson AnswerStop(const OrderedJson& request,
                       std::vector<ControllerEvent>* events) {
  const auto kind = request.find("kind");
  if (kind != request.end() && *kind == "drain") {
    events->push_back(StopAsked{StopKind::kDrain});
  } else if (kind != request.end() && *kind == "interrupt") {
    events->push_back(StopAsked{StopKind::kInterrupt});
  } else {
    return ErrorAnswer("stop: `kind` must be \"interrupt\" or \"drain\"");
  }
  return {{"stopping", true}};
}

// How long the sweep will take is reckoned from its whole life.
OrderedJson AnswerStatus(const Controller& controller, Now now) {
  const SweepStatus status = StatusOf(
      controller, controller.alive_s(now), controller.Counts().finished(), now);
  OrderedJson answer = StatusToJson(status);
  answer["pid"] = getpid();
  return answer;
}

OrderedJson Dispatch(std::string_view text,
                     const Controller& controller,
                     Now now,
                     std::vector<ControllerEvent>* events) {
  const OrderedJson request = ParseJson(text);
  if (!request.is_object()) return ErrorAnswer("the request is no JSON object");
  const auto op = request.find("op");
  if (op == request.end()) return ErrorAnswer("the request has no `op`");
  if (*op == "status") return AnswerStatus(controller, now);
  if (*op == "explain") return AnswerExplain(request, controller, now);
  if (*op == "stop") return AnswerStop(request, events);
  return ErrorAnswer(
      fmt::format("this controller does not know {}; it knows status, "
                  "explain and stop",
                  DumpJson(*op)));
}

}  // namespace

std::string AnswerRequest(std::string_view request,
                          const Controller& controller,
                          Now now,
                          std::vector<ControllerEvent>* events) {
  try {
    return DumpJson(Dispatch(request, controller, now, events));
  } catch (const ConfigError& error) {
    return DumpJson(ErrorAnswer(error.what()));
  }
}

}  // namespace hyperopt
