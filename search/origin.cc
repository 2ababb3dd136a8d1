#include "search/origin.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "executors/local_resources.h"

namespace hyperopt {
namespace {

constexpr size_t kMostDiff = 1 << 20;

// The output of a fixed command (never of the user's words); "" where it fails.
std::string OutputOf(const char* command, size_t most) {
  FILE* pipe = popen(command, "re");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 8192> buffer;
  size_t got = 0;
  while ((got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    if (text.size() < most)
      text.append(buffer.data(), std::min(got, most - text.size()));
  }
  if (pclose(pipe) != 0) return "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool InGitCheckout() {
  std::error_code error;
  for (auto dir = std::filesystem::current_path(error); !dir.empty();
       dir = dir.parent_path()) {
    if (std::filesystem::exists(dir / ".git", error)) return true;
    if (dir == dir.root_path()) break;
  }
  return false;
}

}  // namespace

std::map<std::string, std::string> DescribeOrigin() {
  std::map<std::string, std::string> origin;
  origin["host"] = HostName();
  if (const passwd* user = getpwuid(geteuid())) origin["user"] = user->pw_name;
  std::error_code error;
  origin["cwd"] = std::filesystem::current_path(error).string();
  origin["version"] = HYPEROPT_VERSION;
  if (!InGitCheckout()) return origin;
  const auto put = [&](const char* key, const char* command, size_t most) {
    std::string text = OutputOf(command, most);
    if (!text.empty()) origin[key] = std::move(text);
  };
  put("commit", "git rev-parse HEAD 2>/dev/null", 100);
  put("branch", "git rev-parse --abbrev-ref HEAD 2>/dev/null", 1000);
  put("diff", "git diff HEAD 2>/dev/null", kMostDiff);
  return origin;
}

}  // namespace hyperopt
