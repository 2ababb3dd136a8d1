// Takes the command line's requests to a controller and hands out the answers: after
// the commit of what they changed, or with the reason where that does not come about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executors/transport.h"
#include "search/controller.h"
#include "trial/clock.h"

namespace hyperopt::internal {

class RequestDesk {
 public:
  // Both must outlive it.
  RequestDesk(ServerTransport* transport, Controller* controller)
      : transport_(transport), controller_(controller) {}

  // Takes what has come; the answers wait for Committed.
  void Read(Now now);
  void Committed();
  // Answers what waits and what has come meanwhile.
  void Held(const std::string& why, Now now);

 private:
  void Take(const std::string& held, Now now);

  ServerTransport* transport_;
  Controller* controller_;
  std::vector<std::pair<Peer, std::string>> replies_;
};

}  // namespace hyperopt::internal
