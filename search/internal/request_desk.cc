#include "search/internal/request_desk.h"

#include <optional>

#include "search/requests.h"
#include "trial/failpoint.h"

namespace hyperopt::internal {

void RequestDesk::Read(Now now) { Take("", now); }

void RequestDesk::Take(const std::string& held, Now now) {
  while (const std::optional<Frame> request = transport_->ReceiveRequest()) {
    std::vector<ControllerEvent> events;
    std::string answer =
        AnswerRequest(request->bytes, *controller_, now, held, &events);
    for (const ControllerEvent& event : events) controller_->Handle(event, now);
    replies_.emplace_back(request->peer, std::move(answer));
  }
}

void RequestDesk::Committed() {
  if (!replies_.empty()) Failpoint("controller.before_answer");
  for (const auto& [peer, answer] : replies_) transport_->SendReply(peer, answer);
  replies_.clear();
}

void RequestDesk::Held(const std::string& why, Now now) {
  for (auto& [peer, answer] : replies_) answer = WithHeld(answer, why);
  Take(why, now);
  Committed();
}

}  // namespace hyperopt::internal
