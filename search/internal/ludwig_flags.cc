#include "search/internal/ludwig_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

struct Renamed {
  std::string_view ludwig;
  std::string_view ours;
};
constexpr std::array<Renamed, 2> kRenamed{{
    {"-cs", "--config_str"},
    {"-rs", "--random_seed"},
}};

struct Refused {
  std::string_view flag;
  std::string_view short_flag;
  std::string_view way;
};
constexpr std::string_view kOneTable =
    "one table is split by seed: name it with --dataset";
constexpr std::string_view kAlwaysKept = "the record and each trial's files are kept";
constexpr std::string_view kNoCallback =
    "not available in this version; `hyperopt export` writes csv and json";
constexpr std::array<Refused, 26> kRefused{{
    {"--training_set", "", kOneTable},
    {"--validation_set", "", kOneTable},
    {"--test_set", "", kOneTable},
    {"--training_set_metadata", "", "each trial reads the table itself"},
    {"--data_format", "", "the table is read as csv"},
    {"--model_name", "", "trials are numbered: results/<name>/trials/<number>"},
    {"--model_load_path", "-mlp", "Ludwig never used it either; a sweep starts anew"},
    {"--model_resume_path", "-mrp", "run the same line again, or hyperopt resume DIR"},
    {"--skip_save_hyperopt_statistics", "-sshs", "hyperopt export --format ludwig"},
    {"--skip_save_processed_input", "-sspi", "none is saved"},
    {"--skip_save_training_description", "-sstd", kAlwaysKept},
    {"--skip_save_training_statistics", "-ssts", kAlwaysKept},
    {"--skip_save_model", "-ssm", "only the best and the last checkpoint are kept"},
    {"--skip_save_progress", "-ssp", "only the best and the last checkpoint are kept"},
    {"--skip_save_log", "-ssl", "limit it with hyperopt.executor.log_limit"},
    {"--hyperopt_log_verbosity", "-hlv", "--quiet, or --json"},
    {"--gpu_memory_limit",
     "-gml",
     "share devices with hyperopt.executor.gpu_resources_per_trial: 0.5"},
    {"--backend", "-b", "write `backend:` in the search file"},
    {"--logging_level", "-l", "--quiet, or --json"},
    {"--debug", "-dbg", "--json shows every event"},
    {"--mlflow", "", kNoCallback},
    {"--wandb", "", kNoCallback},
    {"--comet", "", kNoCallback},
    {"--comet_ml", "", kNoCallback},
    {"--aim", "", kNoCallback},
    {"--resume", "", "run the same line again, or hyperopt resume DIR"},
}};

// "--flag=value" is "--flag".
std::string_view FlagOf(std::string_view word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word;
}

std::string Dashes(std::string text) {
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

void RefuseFlag(const std::string& word) {
  const std::string_view flag = FlagOf(word);
  for (const Refused& refused : kRefused) {
    const bool same = Dashes(std::string(flag)) == Dashes(std::string(refused.flag)) ||
                      (!refused.short_flag.empty() && flag == refused.short_flag);
    if (!same) continue;
    throw ConfigError(
        fmt::format("{} (a flag of Ludwig's) has no use here: {}", flag, refused.way));
  }
}

}  // namespace

std::vector<std::string> TranslateLudwigFlags(std::vector<std::string> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') continue;
    for (const Renamed& renamed : kRenamed) {
      if (word == renamed.ludwig) word = renamed.ours;
    }
    RefuseFlag(word);
  }
  return words;
}

}  // namespace hyperopt::internal
