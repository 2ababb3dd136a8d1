#include "search/commands/ask_controller.h"

#include <nlohmann/json.hpp>

#include "executors/local_resources.h"
#include "executors/transport.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"

namespace hyperopt {

std::optional<OrderedJson> AskController(const std::filesystem::path& dir,
                                         const OrderedJson& request,
                                         double timeout_s) {
  const std::optional<LockHolder> holder = FindController(dir);
  if (!holder || holder->sockets.empty() || holder->host != HostName()) {
    return std::nullopt;
  }
  const std::optional<std::string> text =
      Ask(holder->sockets, DumpJson(request), timeout_s);
  if (!text) return std::nullopt;
  OrderedJson answer = ParseJson(*text);
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw ConfigError("the controller: " + error->get<std::string>());
  }
  return answer;
}

}  // namespace hyperopt
