#include "executors/internal/own_process.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {

std::string SweepOfIdFile(const std::filesystem::path& file) {
  const std::optional<std::string> text = ReadFile(file);
  return text ? text->substr(0, text->find(' ')) : "";
}

std::optional<ExecutorId> ReadIdFile(const std::filesystem::path& file,
                                     const std::string& sweep_id) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text) return std::nullopt;
  const size_t space = text->find(' ');
  if (space == std::string::npos) return std::nullopt;
  if (!sweep_id.empty() && text->substr(0, space) != sweep_id) return std::nullopt;
  int64_t id = 0;
  std::from_chars(text->data() + space + 1, text->data() + text->size(), id);
  return id > 0 ? std::optional(ExecutorId(id)) : std::nullopt;
}

void StartAnew(std::vector<std::string> words, double lived_s) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> argv;
  std::erase(words, "--fresh-record");
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // A keeper that dies at once must not make a tight loop of lives.
  if (lived_s < 1) ::poll(nullptr, 0, static_cast<int>((1 - lived_s) * 1000));
  execv("/proc/self/exe", argv.data());
  throw EnvironmentError(std::string("can not start the executor anew: ") +
                         std::strerror(errno));
}

}  // namespace hyperopt
