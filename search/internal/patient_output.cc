#include "search/internal/patient_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hyperopt::internal {
namespace {

// A pipe that polls as writable takes PIPE_BUF bytes without blocking, a terminal a
// little: less than its buffer.
constexpr size_t kPiece = 1024;

bool WaitWritable(int fd, int timeout_ms) {
  pollfd wait{fd, POLLOUT, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

}  // namespace

bool PatientOutput::Write(std::string_view text) {
  if (closed_) return true;
  if (waiting_.size() - start_ + text.size() > limit_) {
    Flush();
    if (waiting_.size() - start_ + text.size() > limit_) return false;
  }
  waiting_ += text;
  Flush();
  return true;
}

void PatientOutput::Flush() {
  while (!closed_ && start_ < waiting_.size() && WaitWritable(fd_, 0)) {
    const size_t size = std::min(kPiece, waiting_.size() - start_);
    const ssize_t written = ::write(fd_, waiting_.data() + start_, size);
    if (written > 0) {
      start_ += static_cast<size_t>(written);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      closed_ = true;
    }
  }
  if (closed_ || start_ == waiting_.size()) {
    waiting_.clear();
    start_ = 0;
  } else if (start_ > limit_ / 2) {
    waiting_.erase(0, start_);
    start_ = 0;
  }
}

void PatientOutput::Finish(double patience_s) {
  Flush();
  while (!idle() && WaitWritable(fd_, static_cast<int>(patience_s * 1000))) Flush();
}

}  // namespace hyperopt::internal
