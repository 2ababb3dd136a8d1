// Messages as bytes: MessagePack, which keeps NaN and infinity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executors/messages.h"

namespace hyperopt {

std::string Encode(const ToExecutor& message);
std::string Encode(const FromExecutor& message);

// nullopt for bytes that are no such message, whatever they are: a peer that sends
// rubbish is normal. Frames over 64 MiB are rubbish.
std::optional<ToExecutor> DecodeToExecutor(std::string_view bytes);
std::optional<FromExecutor> DecodeFromExecutor(std::string_view bytes);

}  // namespace hyperopt
