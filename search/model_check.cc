#include "search/model_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"
#include "trial/merge.h"
#include "trial/text.h"

extern char** environ;

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// A folder of this process alone, gone with it.
class ScratchFolder {
 public:
  ScratchFolder() : path_(fs::temp_directory_path() / ("hyperopt-" + RandomHex(8))) {
    fs::create_directory(path_);
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Ended {
  int code = 0;
  std::string out, err;
};

// Runs `words` to their end; what they write goes to files, since a pipe could fill.
Ended RunToEnd(std::vector<std::string> words, const fs::path& folder) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string out = folder / "out", err = folder / "err";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), kNew, 0600);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, words[0].c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw EnvironmentError(words[0] + ": can not be run: " + std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Ended ended;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = ReadFile(out).value_or("");
  ended.err = ReadFile(err).value_or("");
  return ended;
}

std::vector<std::string> MetricProblem(const OrderedJson& report,
                                       const SearchConfig& config) {
  const std::string field = config.metric_field();
  std::vector<std::string> known;
  for (const OrderedJson& metric : report.value("metrics", OrderedJson::array())) {
    known.push_back(metric.get<std::string>());
    if (known.back() == field) return {};
  }
  std::string line = fmt::format(
      "hyperopt.metric: {} ({} of {}) is never reported by the built-in trainer",
      config.metric,
      config.output_feature,
      config.split);
  if (const auto nearest = NearestName(field, known)) {
    line += "; did you mean " + *nearest + "?";
  }
  return {line};
}

}  // namespace

std::optional<fs::path> FindTrainer() {
  const fs::path path =
      fs::read_symlink("/proc/self/exe").parent_path() / "hyperopt-train";
  if (!fs::exists(path)) return std::nullopt;
  return path;
}

std::vector<std::string> TrainerCommand(const SearchConfig& config) {
  const std::optional<fs::path> trainer = FindTrainer();
  if (!trainer) {
    throw ConfigError(
        "the search file has no `command`, and the built-in trainer (hyperopt-train) "
        "is not beside this program: build it with ./setup.sh, or name a command");
  }
  std::vector<std::string> words = {trainer->string()};
  if (!config.dataset.empty()) {
    words.push_back("--dataset");
    words.push_back(config.dataset.string());
  }
  return words;
}

std::vector<std::string> CheckModel(const SearchConfig& config, const Params& params) {
  std::vector<std::string> words = TrainerCommand(config);
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "config.json";
  WriteFileAtomically(
      file, MergeConfig(config.model, config.space, params), Durability::kProcess);
  for (const char* word : {"--check", "--json", "--config"}) words.push_back(word);
  words.push_back(file.string());
  const Ended ended = RunToEnd(words, scratch.path());
  OrderedJson report;
  try {
    report = ParseJson(ended.out);
  } catch (const ConfigError&) {
    throw EnvironmentError(fmt::format("{} --check ended with {} and said: {}",
                                       words[0],
                                       ended.code,
                                       std::string(Trim(ended.err))));
  }
  std::vector<std::string> lines;
  for (const OrderedJson& error : report.value("errors", OrderedJson::array())) {
    lines.push_back(
        fmt::format("{}: {}", error.value("path", ""), error.value("message", "")));
  }
  return lines.empty() ? MetricProblem(report, config) : lines;
}

void RequireGoodModel(const SearchConfig& config, const Params& params) {
  std::vector<std::string> lines = CheckModel(config, params);
  const std::string file = config.file.empty() ? "--config_str" : config.file.string();
  for (std::string& line : lines) line = file + ": " + line;
  if (!lines.empty()) throw ConfigErrors(std::move(lines));
}

}  // namespace hyperopt
