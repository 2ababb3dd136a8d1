// Both ends' handling of the stream socket between executor and keeper. All descriptors
// are non-blocking.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "executors/internal/keeper_wire.h"
#include "trial/fs.h"

namespace hyperopt {

// Feeds what has come. False once the other end is closed or broken (what came before
// is fed).
bool ReadAvailable(int fd, FrameReader* reader);

// Sends the front of `bytes` as far as the socket takes it, and erases that. False
// where the other end is gone.
bool SendAvailable(int fd, std::string* bytes);

// A SpawnRun with a large environment goes through in one piece.
void GrowBuffers(int fd);

uid_t PeerUid(int fd);

// Throws EnvironmentError where the path is too long or can not be bound. An old socket
// of that name is removed. REQUIRES: the folder's keeper.lock is held.
UniqueFd ListenAt(const std::filesystem::path& path);
// nullopt where nobody listens.
std::optional<UniqueFd> ConnectTo(const std::filesystem::path& path);

}  // namespace hyperopt
