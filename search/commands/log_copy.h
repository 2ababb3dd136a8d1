// Copies a growing log to a descriptor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "trial/fs.h"

namespace hyperopt {

// A file without a name that holds `text`. Throws EnvironmentError.
UniqueFd InMemory(std::string_view text);

class LogCopy {
 public:
  enum class Result { kNothing, kSomething, kClosed };

  LogCopy(std::filesystem::path file, int to) : file_(std::move(file)), to_(to) {}
  // Of what is open already.
  LogCopy(UniqueFd file, int to) : to_(to), fd_(std::move(file)) {}

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
