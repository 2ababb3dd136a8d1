#include "executors/internal/exit_words.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {

std::string TailOf(const std::string& path, size_t limit) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return "";
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(std::min(limit, static_cast<size_t>(size)), '\0');
  const ssize_t n =
      pread(fd.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

std::string CleanUtf8(std::string_view text) {
  // A character that the cut left without its beginning is no fault of the text.
  size_t start = 0;
  while (start < std::min<size_t>(3, text.size()) && (text[start] & 0xC0) == 0x80) {
    ++start;
  }
  return ParseJson(QuoteJson(text.substr(start))).get<std::string>();
}

namespace {

bool HasOneOf(std::string_view words, std::span<const std::string_view> signs) {
  return std::ranges::any_of(signs, [&](std::string_view sign) {
    return words.find(sign) != std::string_view::npos;
  });
}

}  // namespace

bool SaysDeviceMemory(std::string_view words) {
  constexpr std::string_view kSigns[] = {
      "CUDA out of memory",
      "CUDA error: out of memory",
      "OutOfMemoryError",
      "RESOURCE_EXHAUSTED",
      "CUDA_ERROR_OUT_OF_MEMORY",
      "cudaErrorMemoryAllocation",
      "HIP out of memory",
      "OOM when allocating tensor",  // TensorFlow
  };
  return HasOneOf(words, kSigns);
}

bool SaysKilledWorker(std::string_view words) {
  constexpr std::string_view kSigns[] = {
      "killed by signal: Killed",  // a DataLoader's worker
      "BrokenProcessPool",         // concurrent.futures
      "TerminatedWorkerError",     // joblib
      "WorkerLostError",           // billiard
      "signal 9",
      "SIGKILL",
      "exitcode=-9",
  };
  return HasOneOf(words, kSigns);
}

namespace {

// With cgroup 2 the line is "0::/path".
std::string OomCounts() {
  try {
    const std::string text = ReadFile("/proc/self/cgroup").value_or("");
    const size_t at = text.find("0::/");
    if (at != std::string::npos && (at == 0 || text[at - 1] == '\n')) {
      const size_t begin = at + 3;
      const std::string path = "/sys/fs/cgroup" +
                               text.substr(begin, text.find('\n', begin) - begin) +
                               "/memory.events";
      if (access(path.c_str(), R_OK) == 0) return path;
    }
  } catch (const EnvironmentError&) {
    // Then the machine's count has to do.
  }
  return "/proc/vmstat";
}

}  // namespace

OomWatch::OomWatch() : OomWatch(OomCounts()) {}

OomWatch::OomWatch(std::string path) : path_(std::move(path)) { Look(); }

void OomWatch::Look() { last_ = Count(); }

std::optional<bool> OomWatch::Rose() {
  const std::optional<int64_t> before = last_;
  last_ = Count();
  if (!before || !last_) return std::nullopt;
  return *last_ > *before;
}

std::optional<int64_t> OomWatch::Count() const {
  constexpr std::string_view kName = "oom_kill ";
  std::string text;
  try {
    text = ReadFile(path_).value_or("");
  } catch (const EnvironmentError&) {
    return std::nullopt;
  }
  const size_t at = text.find(kName);
  if (at == std::string::npos || (at > 0 && text[at - 1] != '\n')) return std::nullopt;
  int64_t count = 0;
  const char* begin = text.data() + at + kName.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  return count;
}

}  // namespace hyperopt
