#include "search/commands/logger_life.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "search/format.h"

namespace hyperopt {
namespace {

constexpr std::string_view kEnd = "end ";
constexpr size_t kMostLine = 2000;
constexpr double kShortSleep_s = 1;

// "" where it has closed.
std::string ReadWord() {
  std::array<char, 256> text;
  while (true) {
    const ssize_t got = read(STDIN_FILENO, text.data(), text.size());
    if (got < 0 && errno == EINTR) continue;
    return got <= 0 ? "" : std::string(text.data(), static_cast<size_t>(got));
  }
}

}  // namespace

LoggerLife::LoggerLife(std::function<std::string()> missing)
    : missing_(std::move(missing)) {
  std::thread([this] { Listen(); }).detach();
}

void LoggerLife::Listen() {
  const std::string word = ReadWord();
  if (!word.starts_with(kEnd)) _exit(0);
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  AwaitDeadline(std::strtod(word.c_str() + kEnd.size(), nullptr));
}

void LoggerLife::AwaitDeadline(double seconds) {
  pollfd closed{STDIN_FILENO, POLLIN, 0};
  if (poll(&closed, 1, static_cast<int>(seconds * 1000)) > 0) _exit(0);
  const std::string missing = missing_();
  if (!missing.empty()) Tell('!', missing);
  _exit(1);
}

bool LoggerLife::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

void LoggerLife::Sleep(double seconds) {
  std::unique_lock lock(mutex_);
  const bool before = ending_;
  const std::chrono::duration<double> most(before ? std::min(seconds, kShortSleep_s)
                                                  : seconds);
  changed_.wait_for(lock, most, [&] { return ending_ != before; });
}

// One write, so that no line is torn.
void LoggerLife::Tell(char mark, const std::string& line) const {
  const std::string text = mark + Printable(line).substr(0, kMostLine) + '\n';
  [[maybe_unused]] const ssize_t put = write(STDOUT_FILENO, text.data(), text.size());
}

}  // namespace hyperopt
