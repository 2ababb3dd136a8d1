// Messages as bytes: MessagePack, which keeps NaN and infinity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executors/messages.h"

namespace hyperopt {

std::string Encode(const ToExecutor& message);
std::string Encode(const FromExecutor& message);

// nullopt for bytes that are no such message, whatever they are: a peer that sends
// rubbish is normal. Frames over 64 MiB are rubbish.
std::optional<ToExecutor> DecodeToExecutor(std::string_view bytes);
std::optional<FromExecutor> DecodeFromExecutor(std::string_view bytes);

// Several messages as one frame, in order: what a turn says to one peer wakes it once.
// One message alone stays as it is.
std::string JoinFrames(const std::vector<std::string>& frames);
// The messages of a frame, joined or not; empty for bytes that are neither. The views
// are into `bytes`.
std::vector<std::string_view> SplitFrames(std::string_view bytes);

}  // namespace hyperopt
