#include "search/requests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "search/change_json.h"
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

OrderedJson LinesOf(const std::string& text) {
  OrderedJson lines = OrderedJson::array();
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

OrderedJson AnswerChange(const ChangeRequest& change,
                         Controller& controller,
                         Now now,
                         const std::string& held) {
  if (!held.empty()) {
    return ErrorAnswer(
        fmt::format("nothing is changed, since the record can not be written: {}; "
                    "what runs goes on. Type it again once that is mended",
                    held));
  }
  return {{"lines", LinesOf(controller.Change(change, now))}};
}

OrderedJson Dispatch(std::string_view text,
                     Controller& controller,
                     Now now,
                     const std::string& held,
                     std::vector<ControllerEvent>* events) {
  const OrderedJson request = ParseJson(text);
  if (!request.is_object()) return ErrorAnswer("the request is no JSON object");
  const auto op = request.find("op");
  if (op == request.end()) return ErrorAnswer("the request has no `op`");
  if (*op == "status") return AnswerStatus(controller, now);
  if (*op == "explain") return AnswerExplain(request, controller, now);
  if (*op == "stop") return AnswerStop(request, events);
  const std::optional<ChangeRequest> change =
      ChangeFromJson(request, controller.config(), controller.sweep());
  if (change) return AnswerChange(*change, controller, now, held);
  return ErrorAnswer(
      fmt::format("this controller does not know {}; it knows status, explain, stop, "
                  "add, stop trials, pause and set",
                  DumpJson(*op)));
}

}  // namespace

std::string AnswerRequest(std::string_view request,
                          Controller& controller,
                          Now now,
                          const std::string& held,
                          std::vector<ControllerEvent>* events) {
  OrderedJson answer;
  try {
    answer = Dispatch(request, controller, now, held, events);
  } catch (const Error& error) {
    answer = ErrorAnswer(error.what());
  }
  if (!held.empty()) {
    answer["held"] = held;
    if (answer.contains("waits")) {
      answer["waits"] = "the record can not be written: " + held;
    }
  }
  return DumpJson(answer);
}

std::string WithHeld(const std::string& answer, const std::string& held) {
  OrderedJson json = ParseJson(answer);
  json["held"] = held;
  return DumpJson(json);
}

}  // namespace hyperopt
