#include "executors/internal/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace hyperopt {
namespace {

std::string ProcPath(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// From offset 0 to the end; "" where it can not be read.
void ReadWhole(int fd, std::string* text) {
  size_t size = 0;
  if (text->size() < 4096) text->resize(4096);
  while (true) {
    const ssize_t n =
        pread(fd, text->data() + size, text->size() - size, static_cast<off_t>(size));
    if (n <= 0) break;
    size += static_cast<size_t>(n);
    if (size == text->size()) text->resize(2 * size);
  }
  text->resize(size);
}

std::string ReadProcFile(pid_t pid, const char* file) {
  const UniqueFd fd(open(ProcPath(pid, file).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (fd) ReadWhole(fd.get(), &text);
  return text;
}

}  // namespace

std::optional<ProcessStat> ReadProcessStat(pid_t pid) {
  const std::string text = ReadProcFile(pid, "stat");
  // The name may hold blanks and brackets itself, so it ends at the last bracket.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessStat stat;
  stat.comm = text.substr(open + 1, close - open - 1);
  unsigned long long start = 0;
  unsigned flags = 0;
  // Fields 3 to 6, 9 and 22 of proc(5).
  const int fields = std::sscanf(text.c_str() + close + 1,
                                 " %c %d %d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d "
                                 "%*d %*d %*d %*d %*d %llu",
                                 &stat.state,
                                 &stat.parent,
                                 &stat.group,
                                 &stat.session,
                                 &flags,
                                 &start);
  if (fields != 6) return std::nullopt;
  constexpr unsigned kExiting = 0x4;            // PF_EXITING
  constexpr unsigned kKernelThread = 0x200000;  // PF_KTHREAD
  stat.ending = (flags & kExiting) != 0;
  stat.kernel = (flags & kKernelThread) != 0;
  stat.start = start;
  return stat;
}

std::optional<std::string> ReadProcessToken(pid_t pid) {
  constexpr std::string_view kName = "HYPEROPT_TOKEN=";
  const std::string environment = ReadProcFile(pid, "environ");
  std::string_view rest = environment;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry.starts_with(kName)) return std::string(entry.substr(kName.size()));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return std::nullopt;
}

bool IsBetweenPrograms(pid_t pid) {
  return ReadProcFile(pid, "environ").empty() && ReadProcFile(pid, "cmdline").empty();
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return pids;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::map<pid_t, ProcessStat> ReadAllProcessStats() {
  std::map<pid_t, ProcessStat> stats;
  for (const pid_t pid : AllProcesses()) {
    if (auto stat = ReadProcessStat(pid)) stats.emplace(pid, std::move(*stat));
  }
  return stats;
}

ChildList::ChildList() {
  const pid_t pid = getpid();
  const std::string path = ProcPath(pid, "task/") + std::to_string(pid) + "/children";
  fd_.Reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::vector<pid_t> ChildList::Read() {
  std::vector<pid_t> pids;
  if (!fd_) {  // a kernel without CONFIG_PROC_CHILDREN
    for (const auto& [pid, stat] : ReadAllProcessStats()) {
      if (stat.parent == getpid()) pids.push_back(pid);
    }
    return pids;
  }
  ReadWhole(fd_.get(), &buffer_);
  const char* at = buffer_.data();
  const char* const end = at + buffer_.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc()) pids.push_back(pid);
    at = next + 1;  // the blank; where nothing was read, next == at
  }
  return pids;
}

}  // namespace hyperopt
