// The bare limit: posix_spawn and waitpid, N programs, 2 at once, no record of
// anything.
//   spawn_loop N PROGRAM        prints seconds
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

extern char** environ;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int total = atoi(argv[1]);
  const auto start = std::chrono::steady_clock::now();
  int started = 0, running = 0;
  while (started < total || running > 0) {
    while (running < 2 && started < total) {
      pid_t pid = 0;
      char* words[] = {argv[2], nullptr};
      if (posix_spawn(&pid, argv[2], nullptr, nullptr, words, environ) != 0) return 1;
      ++started;
      ++running;
    }
    int status = 0;
    if (waitpid(-1, &status, 0) > 0) --running;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  printf("%.6f\n", took.count());
}
