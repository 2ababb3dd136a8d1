#include "executors/attempt_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/merge.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

const std::string kEmptyModel = "{}";

enum class Made { kNew, kWasThere };

// Plain strings here: to build an fs::path costs as much as to make a folder in memory.
Made MakeFolder(const std::string& dir) {
  if (mkdir(dir.c_str(), 0777) == 0) return Made::kNew;
  if (errno == EEXIST) return Made::kWasThere;
  ThrowFileError(dir, "can not be made", errno);
}

// Of <sweep>/trials/<trial>/<run>/<attempt> usually <sweep>/trials is there and the
// rest is not, so it is made from the trial's folder on: from below, two calls a trial
// would fail first.
Made MakeAttemptFolder(const std::string& path) {
  const size_t attempt = path.rfind('/');
  const size_t run = path.rfind('/', attempt - 1);
  const std::string trial_dir = path.substr(0, run);
  if (mkdir(trial_dir.c_str(), 0777) != 0 && errno != EEXIST) {
    std::error_code told_below;
    fs::create_directories(fs::path(trial_dir).parent_path(), told_below);
    MakeFolder(trial_dir);
  }
  MakeFolder(path.substr(0, attempt));
  return MakeFolder(path);
}

void WritePlainFile(const std::string& path, std::string_view text) {
  const UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) ThrowFileError(path, "can not be made", errno);
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ThrowFileError(path, "can not be written", errno);
    text.remove_prefix(written);
  }
}

// Merging asks for the order of the names alone.
SearchSpace NamesOnly(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  parameters.reserve(names.size());
  for (const std::string& name : names) parameters.push_back({name, FloatDomain{}});
  return SearchSpace(std::move(parameters));
}

}  // namespace

fs::path AttemptDir(const fs::path& sweep_dir, const RunKey& key) {
  return fmt::format("{}/trials/{}/{}/{}",
                     sweep_dir.native(),
                     key.trial.value(),
                     key.run.value(),
                     key.attempt.value());
}

void PrepareAttemptDir(const fs::path& dir,
                       const SweepSpec& sweep,
                       const Launch& launch) {
  // The report is made last: where it is, all is. So a start that was cut short is done
  // again and a whole one is left alone.
  const std::string folder = dir.native() + "/";
  const std::string report = folder + kReportFile;
  if (MakeAttemptFolder(dir.native()) == Made::kWasThere &&
      access(report.c_str(), F_OK) == 0)
    return;
  MakeFolder(folder + kCheckpointFolder);
  WritePlainFile(folder + kParamsFile, ToJsonText(launch.params));
  const std::string& model = sweep.model.empty() ? kEmptyModel : sweep.model;
  WritePlainFile(folder + kConfigFile,
                 MergeConfig(model, NamesOnly(sweep.parameter_order), launch.params));
  WritePlainFile(report, "");
}

bool PunchLog(const fs::path& log, int64_t limit) {
  constexpr int64_t kBlock = 4096;
  constexpr int64_t kSector = 512;  // st_blocks' unit
  struct stat info {};
  if (stat(log.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (info.st_blocks * kSector <= limit) return false;
  const int64_t quarter = std::max<int64_t>(limit / 4, kBlock);
  const int64_t from = (quarter + kBlock - 1) / kBlock * kBlock;
  const int64_t upto = (info.st_size - quarter) / kBlock * kBlock;
  if (upto <= from) return false;
  const UniqueFd file(open(log.c_str(), O_WRONLY | O_CLOEXEC));
  return file && fallocate(file.get(),
                           FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           from,
                           upto - from) == 0;
}

}  // namespace hyperopt
