#include "search/origin.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "executors/local_resources.h"
#include "search/internal/git.h"

namespace hyperopt {
namespace {

constexpr size_t kMostDiff = 1 << 20;
constexpr size_t kMostName = 1000;
constexpr size_t kShortCommit = 9;

std::string WordOf(const std::map<std::string, std::string>& origin, const char* name) {
  const auto found = origin.find(name);
  return found == origin.end() ? "" : found->second;
}

// "commit", "branch" and "diff" of the checkout that `folder` is in; what there is not
// is left out.
std::map<std::string, std::string> DescribeCode(const std::filesystem::path& folder) {
  std::map<std::string, std::string> code;
  if (!internal::InGitCheckout(folder)) return code;
  const auto put = [&](const char* key, std::vector<std::string> words, size_t most) {
    std::string text = internal::AskGit(folder, words, most).value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!text.empty()) code[key] = std::move(text);
  };
  put("commit", {"rev-parse", "HEAD"}, kMostName);
  put("branch", {"rev-parse", "--abbrev-ref", "HEAD"}, kMostName);
  put("diff", {"diff", "HEAD"}, kMostDiff);
  return code;
}

}  // namespace

std::map<std::string, std::string> DescribeOrigin() {
  std::map<std::string, std::string> origin;
  origin["host"] = HostName();
  if (const passwd* user = getpwuid(geteuid())) origin["user"] = user->pw_name;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  origin["cwd"] = here.string();
  origin["version"] = HYPEROPT_VERSION;
  origin.merge(DescribeCode(here));
  return origin;
}

std::string CodeChangeSince(const std::map<std::string, std::string>& origin) {
  const std::string then = WordOf(origin, "commit");
  if (then.empty() || origin.contains(std::string(kSnapshotOf)) ||
      WordOf(origin, "host") != HostName()) {
    return "";
  }
  const auto code = DescribeCode(WordOf(origin, "cwd"));
  const std::string now = WordOf(code, "commit");
  if (now.empty()) return "";
  std::string text;
  if (now != then) {
    text = fmt::format(
        "commit {} was {}", now.substr(0, kShortCommit), then.substr(0, kShortCommit));
  }
  if (WordOf(code, "diff") != WordOf(origin, "diff")) {
    text += text.empty() ? "uncommitted changes are others" : ", with other changes";
  }
  return text;
}

}  // namespace hyperopt
