// Copies a growing log to a descriptor.
#pragma once

#include <cstdint>
#include <filesystem>

#include "trial/fs.h"

namespace hyperopt {

class LogCopy {
 public:
  enum class Result { kNothing, kSomething, kClosed };

  LogCopy(std::filesystem::path file, int to) : file_(std::move(file)), to_(to) {}

  // Starts at the last `lines` lines of what is there now.
  void SkipToTail(int64_t lines);
  // Writes what has come since. What the executor dropped out of a log's middle is said
  // in its place. kClosed: nobody reads any more.
  Result CopyNew();

 private:
  bool Open();
  Result Write(std::string_view text);
  Result SkipHole(int64_t size);

  const std::filesystem::path file_;
  const int to_;
  UniqueFd fd_;
  int64_t offset_ = 0;
};

}  // namespace hyperopt
