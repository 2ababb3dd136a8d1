#include "search/internal/git.h"

#include <array>
#include <cstdio>

#include "trial/text.h"

namespace hyperopt::internal {

std::optional<std::string> AskGit(const std::filesystem::path& folder,
                                  const std::vector<std::string>& words,
                                  size_t most) {
  // A git hook that starts a sweep has set these for another checkout.
  std::string line = "env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE git -C " +
                     QuoteShellWord(folder.string());
  for (const std::string& word : words) line += " " + QuoteShellWord(word);
  FILE* pipe = popen((line + " 2>/dev/null").c_str(), "re");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 8192> buffer;
  size_t got = 0;
  while ((got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    if (text.size() < most) {
      text.append(buffer.data(), std::min(got, most - text.size()));
    }
  }
  if (pclose(pipe) != 0) return std::nullopt;
  return text;
}

bool InGitCheckout(const std::filesystem::path& folder) {
  std::error_code error;
  for (auto dir = folder; !dir.empty(); dir = dir.parent_path()) {
    if (std::filesystem::exists(dir / ".git", error)) return true;
    if (dir == dir.root_path()) break;
  }
  return false;
}

}  // namespace hyperopt::internal
