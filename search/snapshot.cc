#include "search/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "search/internal/git.h"
#include "search/origin.h"
#include "trial/errors.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kEverything = std::numeric_limits<size_t>::max();
constexpr size_t kShownNames = 3;

fs::path CopyOf(const fs::path& sweep_dir) { return sweep_dir / "snapshot"; }

std::vector<std::string> SplitAtNul(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::vector<std::string> Files(const fs::path& top, std::vector<std::string> words) {
  words.insert(words.begin(), {"ls-files", "-z"});
  const auto text = internal::AskGit(top, words, kEverything);
  if (!text) {
    throw EnvironmentError(top.string() +
                           ": `git ls-files` fails, so `workdir: snapshot` can not "
                           "tell what to copy; try it in a shell");
  }
  return SplitAtNul(*text);
}

std::optional<fs::path> TopOf(const fs::path& folder) {
  if (!internal::InGitCheckout(folder)) return std::nullopt;
  auto text = internal::AskGit(folder, {"rev-parse", "--show-toplevel"}, kEverything);
  if (!text) return std::nullopt;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  if (text->empty()) return std::nullopt;
  return fs::path(*text);
}

// The checkout that is copied.
fs::path RequiredTop(const fs::path& started_in, const fs::path& config_dir) {
  std::optional<fs::path> top = TopOf(started_in);
  if (!top) top = TopOf(config_dir);
  if (top) return *top;
  throw ConfigError(fmt::format(
      "workdir: snapshot copies the files that git tracks, and neither {} nor {} is "
      "in a git checkout. Ways out: `git init && git add .` there, or another workdir",
      started_in.string(),
      config_dir.string()));
}

[[noreturn]] void RefuseNothingTracked(const fs::path& top) {
  throw ConfigError(fmt::format(
      "workdir: snapshot: git tracks no file in {}; `git add` what trials run",
      top.string()));
}

// Entries of the index that are submodules: "160000 <hash> 0\t<path>".
std::vector<std::string> Submodules(const fs::path& top) {
  std::vector<std::string> paths;
  for (const std::string& entry : Files(top, {"--stage"})) {
    const size_t tab = entry.find('\t');
    if (entry.starts_with("160000 ") && tab != entry.npos) {
      paths.push_back(entry.substr(tab + 1));
    }
  }
  return paths;
}

std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShownNames); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text + (names.size() > kShownNames ? ", ..." : "");
}

struct Copied {
  int64_t files = 0;
  int64_t bytes = 0;
};

// A tracked file that was deleted is left out, as git would.
void CopyOne(const fs::path& from, const fs::path& to, Copied* copied) {
  const fs::file_status status = fs::symlink_status(from);
  if (!fs::is_regular_file(status) && !fs::is_symlink(status)) return;
  fs::create_directories(to.parent_path());
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to);
  } else {
    fs::copy_file(from, to);
    copied->bytes += static_cast<int64_t>(fs::file_size(to));
  }
  ++copied->files;
}

Copied CopyTracked(const fs::path& top, const fs::path& to) {
  Copied copied;
  for (const std::string& name : Files(top, {"--cached", "--recurse-submodules"})) {
    CopyOne(top / name, to / name, &copied);
  }
  if (copied.files == 0) RefuseNothingTracked(top);
  return copied;
}

std::vector<std::string> DescribeCopy(const fs::path& top,
                                      const fs::path& copy,
                                      const Copied& copied) {
  std::vector<std::string> lines = {
      fmt::format("trials run from a copy of {} in {}: {} tracked files, {}",
                  top.string(),
                  copy.string(),
                  copied.files,
                  SizeToText(copied.bytes))};
  for (const std::string& path : Submodules(top)) {
    const bool there = fs::exists(top / path / ".git");
    lines.push_back(fmt::format(
        "submodule {}: {}",
        path,
        there ? "copied with the files it tracks" : "not checked out, so not copied"));
  }
  const auto untracked = Files(top, {"--others", "--exclude-standard"});
  if (!untracked.empty()) {
    lines.push_back(
        fmt::format("{} untracked file{} in the copy: {}; `git add` what trials run",
                    untracked.size(),
                    untracked.size() == 1 ? " is not" : "s are not",
                    Names(untracked)));
  }
  return lines;
}

// Under another name until it is whole.
template <typename Fill>
void MakeWhole(const fs::path& copy, const Fill& fill) {
  const fs::path unfinished = copy.string() + ".new";
  try {
    fs::remove_all(unfinished);
    fs::create_directories(unfinished);
    fill(unfinished);
    fs::rename(unfinished, copy);
  } catch (const fs::filesystem_error& error) {
    throw EnvironmentError(fmt::format(
        "{}: the copy of the code can not be made: {}", copy.string(), error.what()));
  }
}

std::string WordOf(const Origin& origin, std::string_view name) {
  const auto found = origin.find(std::string(name));
  return found == origin.end() ? "" : found->second;
}

std::vector<std::string> TakeCopyOf(const SnapshotSource& source,
                                    const fs::path& copy,
                                    SweepRow* sweep) {
  MakeWhole(copy, [&](const fs::path& to) {
    fs::copy(CopyOf(source.sweep_dir),
             to,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  });
  // Of the code that runs, not of today's.
  for (const char* name : {"commit", "branch", "diff"}) {
    sweep->origin.erase(name);
    const std::string value = WordOf(source.origin, name);
    if (!value.empty()) sweep->origin[name] = value;
  }
  sweep->origin[std::string(kSnapshotOf)] = WordOf(source.origin, kSnapshotOf);
  return {"trials run from the sweep's copy of the code"};
}

}  // namespace

std::vector<std::string> MakeSnapshot(const fs::path& sweep_dir,
                                      const fs::path& config_dir,
                                      const std::optional<SnapshotSource>& source,
                                      SweepRow* sweep) {
  const fs::path copy = CopyOf(sweep_dir);
  if (fs::exists(copy) && sweep->origin.contains(std::string(kSnapshotOf))) return {};
  if (source && fs::exists(CopyOf(source->sweep_dir))) {
    fs::remove_all(copy);
    return TakeCopyOf(*source, copy, sweep);
  }
  const fs::path started_in = WordOf(sweep->origin, "cwd");
  const fs::path top = RequiredTop(started_in, config_dir);
  fs::remove_all(copy);  // one whose note did not reach the record
  Copied copied;
  MakeWhole(copy, [&](const fs::path& to) { copied = CopyTracked(top, to); });
  const bool anew = sweep->origin.contains(std::string(kSnapshotOf));
  sweep->origin[std::string(kSnapshotOf)] = top.string();
  std::vector<std::string> lines = DescribeCopy(top, copy, copied);
  if (anew) {
    lines.insert(lines.begin(),
                 "the copy of the code was gone: it is made anew, of today's code");
  }
  // Trials start there though git tracks nothing in it.
  if (const auto folder = InSnapshot(sweep_dir, sweep->origin, started_in)) {
    fs::create_directories(*folder);
  }
  return lines;
}

void RequireCheckout(const fs::path& started_in, const fs::path& config_dir) {
  const fs::path top = RequiredTop(started_in, config_dir);
  if (Files(top, {"--cached", "--recurse-submodules"}).empty()) {
    RefuseNothingTracked(top);
  }
}

std::optional<fs::path> InSnapshot(const fs::path& sweep_dir,
                                   const Origin& origin,
                                   const fs::path& path) {
  const std::string top = WordOf(origin, kSnapshotOf);
  if (top.empty()) return std::nullopt;
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  if (error) real = path.lexically_normal();
  const fs::path below = real.lexically_relative(top);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  const fs::path copy = CopyOf(sweep_dir);
  return below == "." ? copy : copy / below;
}

}  // namespace hyperopt
