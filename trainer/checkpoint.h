// The folder protocol of checkpoints: `<dir>/<step>/` with a file COMPLETE that is
// renamed in last. What the files hold is the caller's affair.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace hyperopt {

// Makes the checkpoint of a step: clears what a torn one left, lets `write` fill the
// folder, makes every file durable, and renames COMPLETE in. A crash at any moment
// leaves either a complete checkpoint or one that IsComplete denies. Returns the
// folder. Throws EnvironmentError; also where a complete one is there already, since a
// complete checkpoint is never written again.
std::filesystem::path WriteCheckpoint(
    const std::filesystem::path& dir,
    int64_t step,
    const std::function<void(const std::filesystem::path& folder)>& write);

bool IsComplete(const std::filesystem::path& checkpoint);

// `path` itself where it is a complete checkpoint, else the complete one of the highest
// step in it; nullopt where there is none.
std::optional<std::filesystem::path> FindCheckpoint(const std::filesystem::path& path);

}  // namespace hyperopt
