#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trial/failpoint.h"

namespace hyperopt {
namespace {

std::vector<std::string> WordsOf(const char* variable) {
  std::vector<std::string> words;
  const char* text = std::getenv(variable);
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) words.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return words;
}

// What the environment asked for when the first point was passed.
struct Plan {
  std::mutex mutex;
  std::map<std::string, long, std::less<>> hits_left;
  std::set<std::string, std::less<>> defects;
  std::string log;

  Plan() {
    if (const char* file = std::getenv("HYPEROPT_FAILPOINT_LOG")) log = file;
    for (const std::string& word : WordsOf("HYPEROPT_FAILPOINT")) {
      const size_t at = word.find('@');
      const long n =
          at == std::string::npos ? 1 : std::strtol(word.c_str() + at + 1, nullptr, 10);
      hits_left[word.substr(0, at)] = n;
    }
    for (const std::string& word : WordsOf("HYPEROPT_DEFECT")) defects.insert(word);
  }
};

// The one global of the project: a point must cost its caller no parameter.
Plan& ThePlan() {
  static Plan plan;
  return plan;
}

void NoteStrike(const std::string& log, const std::string& name) {
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const std::string line = name + "\n";
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
  close(fd);
}

}  // namespace

void Failpoint(const char* name) {
  Plan& plan = ThePlan();
  const std::lock_guard lock(plan.mutex);
  const auto found = plan.hits_left.find(std::string_view(name));
  if (found == plan.hits_left.end()) return;
  if (--found->second != 0) return;
  if (!plan.log.empty()) NoteStrike(plan.log, found->first);
  kill(getpid(), SIGKILL);
}

bool Defective(const char* name) {
  return ThePlan().defects.contains(std::string_view(name));
}

}  // namespace hyperopt
