#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "search/cli.h"
#include "search/config.h"
#include "trial/errors.h"

namespace {

// A program started without standard streams must not find its database behind one of
// them.
void OpenStandardStreams() {
  int fd = 0;
  while (fd >= 0 && fd <= 2) fd = open("/dev/null", O_RDWR);
  if (fd > 2) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardStreams();
  try {
    return hyperopt::RunCli(std::vector<std::string>(argv, argv + argc));
  } catch (const hyperopt::ConfigErrors& errors) {
    // Each line names its own place, as a compiler's does.
    std::fprintf(stderr, "%s\n", errors.what());
    return static_cast<int>(errors.code());
  } catch (const hyperopt::Error& error) {
    std::fprintf(stderr, "hyperopt: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyperopt: %s\n", error.what());
    return static_cast<int>(hyperopt::ExitCode::kEnvironment);
  }
}
