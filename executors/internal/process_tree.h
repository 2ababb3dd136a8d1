// What /proc says of processes. Every answer is old when it is read: who acts on one
// has a reason why the pid can not have been given away since.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial/fs.h"

namespace hyperopt {

struct ProcessStat {
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';     // 'Z' for a zombie
  bool ending = false;  // past its last instruction, but perhaps not a zombie yet
  bool kernel = false;  // a thread of the kernel
  uint64_t start = 0;   // clock ticks since boot; with the pid a name for ever
  std::string comm;
};

// nullopt where there is no such process.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// The value of HYPEROPT_TOKEN in the environment it was started with; nullopt where
// there is none or it can not be read (another user's, a zombie).
std::optional<std::string> ReadProcessToken(pid_t pid);

// In the middle of an exec: neither arguments nor environment can be read, and what it
// carries shows in a moment. REQUIRES: no thread of the kernel.
bool IsBetweenPrograms(pid_t pid);

std::vector<pid_t> AllProcesses();
std::map<pid_t, ProcessStat> ReadAllProcessStats();

// The children of the calling process, which must have one thread: zombies too, and
// orphans that fell to it as their subreaper. One system call a read, no scan of /proc
// where the kernel has the list.
class ChildList {
 public:
  ChildList();
  std::vector<pid_t> Read();

 private:
  UniqueFd fd_;
  std::string buffer_;
};

}  // namespace hyperopt
