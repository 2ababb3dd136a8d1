// What a command writes to stdout or stderr, for tests.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace hyperopt::testing {

inline std::string TextOf(std::FILE* file) {
  std::string text;
  char buffer[4096];
  off_t at = 0;
  ssize_t got;
  while ((got = pread(fileno(file), buffer, sizeof buffer, at)) > 0) {
    text.append(buffer, static_cast<size_t>(got));
    at += got;
  }
  return text;
}

inline std::string Captured(std::FILE* stream, const std::function<void()>& run) {
  std::fflush(stream);
  std::FILE* file = std::tmpfile();
  const int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  run();
  std::fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  std::string text = TextOf(file);
  std::fclose(file);
  return text;
}

}  // namespace hyperopt::testing
