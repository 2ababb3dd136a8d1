#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
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

// SVG to PNG by librsvg's program, at twice the size: sharp on paper.
void ToPng(const std::filesystem::path& svg, const std::filesystem::path& png) {
  std::string program = "rsvg-convert", zoom = "--zoom=2",
              out = "--output=" + png.string();
  std::string in = std::filesystem::absolute(svg).string();
  char* const words[] = {program.data(), zoom.data(), out.data(), in.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0], nullptr, nullptr, words, environ);
  if (error == ENOENT) {
    throw EnvironmentError(
        "--format png takes rsvg-convert, which is not here: apt-get install -y "
        "librsvg2-bin, or take --format svg");
  }
  int status = 0;
  const bool done = error == 0 && waitpid(pid, &status, 0) == pid;
  if (!done || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw EnvironmentError(png.string() + ": rsvg-convert could not write it");
  }
}

void WritePicture(const RecordedSweep& sweep,
                  Picture view,
                  ReportFormat format,
                  const std::filesystem::path& file) {
  const std::string svg = DrawPicture(sweep, view, WallNow());
  if (format == ReportFormat::kSvg) {
    WriteFileAtomically(file, svg, Durability::kProcess);
  } else {
    std::filesystem::path part = file;
    part += ".svg";
    WriteFileAtomically(part, svg, Durability::kProcess);
    ToPng(part, file);
    std::filesystem::remove(part);
  }
  std::printf("%s\n", file.c_str());
}

// --output names a file where one picture is asked for, else a folder.
int WritePictures(const ReportOptions& options, const RecordedSweep& sweep) {
  if (options.open) throw ConfigError("--open is for the report in HTML");
  const char* ending = *options.format == ReportFormat::kSvg ? "svg" : "png";
  if (options.view && options.output) {
    WritePicture(sweep,
                 *options.view,
                 *options.format,
                 std::filesystem::absolute(*options.output).lexically_normal());
    return 0;
  }
  const std::filesystem::path folder =
      std::filesystem::absolute(options.output.value_or(sweep.dir)).lexically_normal();
  std::filesystem::create_directories(folder);
  for (const Picture view : kAllPictures) {
    if (options.view && view != *options.view) continue;
    const bool one_objective = sweep.config.objectives.empty();
    if (!options.view && view == Picture::kPareto && one_objective) continue;
    WritePicture(sweep,
                 view,
                 *options.format,
                 folder / fmt::format("report-{}.{}", ToString(view), ending));
  }
  return 0;
}

}  // namespace

std::optional<ReportFormat> ReportFormatFromString(const std::string& text) {
  if (text == "html") return ReportFormat::kHtml;
  if (text == "svg") return ReportFormat::kSvg;
  if (text == "png") return ReportFormat::kPng;
  return std::nullopt;
}

int ReportCommand(const ReportOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  if (options.format.value_or(ReportFormat::kHtml) != ReportFormat::kHtml) {
    return WritePictures(options, sweep);
  }
  if (options.view) throw ConfigError("--view is for --format svg and png");
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
