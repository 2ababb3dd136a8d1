// Text to a descriptor whose reader may stand still: written as far as it goes without
// waiting, the rest later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hyperopt::internal {

class PatientOutput {
 public:
  // `limit`: bytes kept for a reader that stands still.
  PatientOutput(int fd, size_t limit) : fd_(fd), limit_(limit) {}

  // Text that must come whole or not at all: false where it was dropped.
  bool Write(std::string_view text);
  // Writes what waits, without blocking.
  void Flush();
  // Waits for the reader until all is written, or it takes nothing for `patience_s`.
  void Finish(double patience_s);
  bool idle() const { return start_ == waiting_.size(); }

 private:
  int fd_;
  size_t limit_;
  bool closed_ = false;  // the reader is gone: nothing is kept
  std::string waiting_;
  size_t start_ = 0;  // of what is not written yet
};

}  // namespace hyperopt::internal
