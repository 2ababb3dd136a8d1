#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "search/commands/recorded_sweep.h"
#include "search/commands/report.h"
#include "search/commands/sweep_dir.h"
#include "search/report/page.h"
#include "search/report/report_data.h"
#include "trial/errors.h"
#include "trial/fs.h"

extern char** environ;

namespace hyperopt {
namespace {

WallTime WallNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// False where this machine has no desktop to open it.
bool OpenInBrowser(const std::filesystem::path& file) {
  std::string program = "xdg-open", name = file.string();
  char* const words[] = {program.data(), name.data(), nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, words[0], nullptr, nullptr, words, environ) != 0) return false;
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace

int ReportCommand(const ReportOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  const std::filesystem::path file =
      std::filesystem::absolute(options.output.value_or(sweep.dir / "report.html"))
          .lexically_normal();
  const std::string page = ReportPage(ReportJson(sweep, WallNow()));
  WriteFileAtomically(file, page, Durability::kProcess);
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  if (options.open && !OpenInBrowser(file)) {
    throw EnvironmentError(
        "xdg-open, which opens a file in the browser, is not here or did not work; "
        "open " +
        file.string() + " yourself");
  }
  return 0;
}

}  // namespace hyperopt
