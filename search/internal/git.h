// What git says of a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperopt::internal {

// The output of `git -C folder words...`, its first `most` bytes; nullopt where git is
// not there or fails. Standard error is dropped.
std::optional<std::string> AskGit(const std::filesystem::path& folder,
                                  const std::vector<std::string>& words,
                                  size_t most);

// Whether the folder or one above it has a .git: a look that costs no process.
bool InGitCheckout(const std::filesystem::path& folder);

}  // namespace hyperopt::internal
