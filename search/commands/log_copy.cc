#include "search/commands/log_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "search/format.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

constexpr int64_t kChunk = 256 << 10;

int64_t SizeOf(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

}  // namespace

UniqueFd InMemory(std::string_view text) {
  UniqueFd fd(memfd_create("log", MFD_CLOEXEC));
  while (fd && !text.empty()) {
    const ssize_t written = write(fd.get(), text.data(), text.size());
    if (written <= 0) fd.Reset();
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  if (!fd) ThrowFileError("a kept log", "can not be held in memory", errno);
  return fd;
}

bool LogCopy::Open() {
  if (!fd_) fd_.Reset(open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return static_cast<bool>(fd_);
}

void LogCopy::SkipToTail(int64_t lines) {
  if (!Open()) return;
  const int64_t size = SizeOf(fd_.get());
  offset_ = size;
  int64_t found = 0;
  std::string chunk;
  for (int64_t from = size; from > 0 && found <= lines;) {
    const int64_t bytes = std::min(kChunk, from);
    from -= bytes;
    chunk.resize(bytes);
    if (pread(fd_.get(), chunk.data(), bytes, from) != bytes) return;
    for (int64_t i = bytes - 1; i >= 0; --i) {
      // The newline at the very end closes the last line, it does not begin one.
      const bool is_end = chunk[i] == '\n' && from + i + 1 != size;
      if (!is_end) continue;
      if (++found < lines || lines == 0) continue;
      offset_ = from + i + 1;
      return;
    }
    if (lines > 0) offset_ = from;
  }
}

LogCopy::Result LogCopy::CopyNew() {
  if (!Open()) return Result::kNothing;
  Result result = Result::kNothing;
  std::string chunk;
  for (;;) {
    const int64_t size = SizeOf(fd_.get());
    if (offset_ >= size) return result;
    if (const Result hole = SkipHole(size); hole == Result::kClosed) return hole;
    const int64_t hole = lseek(fd_.get(), offset_, SEEK_HOLE);
    const int64_t end = hole > offset_ ? std::min(hole, size) : size;
    chunk.resize(std::min(kChunk, end - offset_));
    const ssize_t got = pread(fd_.get(), chunk.data(), chunk.size(), offset_);
    if (got <= 0) return result;
    offset_ += got;
    if (Write(std::string_view(chunk).substr(0, got)) == Result::kClosed) {
      return Result::kClosed;
    }
    result = Result::kSomething;
  }
}

LogCopy::Result LogCopy::SkipHole(int64_t size) {
  const int64_t data = lseek(fd_.get(), offset_, SEEK_DATA);
  if (data <= offset_) return Result::kNothing;
  const int64_t dropped = std::min(data, size) - offset_;
  offset_ += dropped;
  return Write(
      fmt::format("\n[{} dropped here, over log_limit]\n", SizeToText(dropped)));
}

LogCopy::Result LogCopy::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to_, text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd wait{to_, POLLOUT, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Result::kClosed;
    text.remove_prefix(written);
  }
  return Result::kSomething;
}

}  // namespace hyperopt
