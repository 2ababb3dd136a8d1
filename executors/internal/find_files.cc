#include "executors/internal/find_files.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <memory>
#include <set>

namespace hyperopt::internal {
namespace {

constexpr int kMostNames = 100'000;
constexpr int kDeepest = 32;

std::vector<std::string> Parts(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    pattern.remove_prefix(slash == pattern.npos ? pattern.size() : slash + 1);
  }
  return parts;
}

bool HasWildcard(std::string_view part) {
  return part.find_first_of("*?[\\") != part.npos;
}

class Search {
 public:
  Search(std::string folder, std::vector<std::string> parts)
      : folder_(std::move(folder)), parts_(std::move(parts)) {}

  std::vector<std::string> Run() {
    if (!parts_.empty()) Walk("", 0, 0);
    return {found_.begin(), found_.end()};
  }

 private:
  // `path` is relative and "" or ends with a slash; parts_[part] is to be met there.
  void Walk(const std::string& path, size_t part, int depth) {
    if (depth > kDeepest) return;
    const std::string& wanted = parts_[part];
    if (wanted == "**") {
      // No folder, or one more and again.
      if (part + 1 < parts_.size()) Walk(path, part + 1, depth);
      for (const std::string& name : Names(path)) {
        if (name[0] == '.') continue;
        if (IsFolder(path + name, false)) {
          Walk(path + name + "/", part, depth + 1);
        } else if (part + 1 == parts_.size()) {
          Meet(path + name, part, false, depth);
        }
      }
      return;
    }
    if (!HasWildcard(wanted)) return Meet(path + wanted, part, true, depth);
    for (const std::string& name : Names(path)) {
      if (fnmatch(wanted.c_str(), name.c_str(), FNM_PERIOD) == 0) {
        Meet(path + name, part, false, depth);
      }
    }
  }

  void Meet(const std::string& path, size_t part, bool follow, int depth) {
    if (part + 1 < parts_.size()) {
      if (IsFolder(path, follow)) Walk(path + "/", part + 1, depth + 1);
      return;
    }
    struct stat info {};
    if (stat((folder_ + "/" + path).c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      found_.insert(path);
    }
  }

  bool IsFolder(const std::string& path, bool follow) const {
    struct stat info {};
    const std::string full = folder_ + "/" + path;
    const int failed = follow ? stat(full.c_str(), &info) : lstat(full.c_str(), &info);
    return failed == 0 && S_ISDIR(info.st_mode);
  }

  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(
        opendir((folder_ + "/" + path).c_str()), closedir);
    if (!dir) return names;
    while (const dirent* entry = readdir(dir.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++looked_at_ > kMostNames) break;
      names.emplace_back(name);
    }
    return names;
  }

  const std::string folder_;
  const std::vector<std::string> parts_;
  std::set<std::string> found_;
  int looked_at_ = 0;
};

}  // namespace

std::vector<std::string> FindFiles(const std::filesystem::path& folder,
                                   std::string_view pattern) {
  return Search(folder.string(), Parts(pattern)).Run();
}

}  // namespace hyperopt::internal
