// The search file, read and checked. Ludwig's names and meanings, plus what a command
// needs (DESIGN, "The search file").
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "samplers/sampler.h"
#include "trial/errors.h"
#include "trial/objective.h"
#include "trial/read_source.h"
#include "trial/resources.h"
#include "trial/space.h"
#include "trial/surroundings.h"

namespace hyperopt {

// All that is wrong with a file at once, each with its place. what() is the lines
// joined.
class ConfigErrors : public ConfigError {
 public:
  explicit ConfigErrors(std::vector<std::string> lines);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

enum class SchedulerKind {
  kFifo,
  kAsha,  // with one bracket, several, or all of Hyperband's
  kMedian,
  kPatience,
  kPlateau,
  kTarget,
  kAny,  // several of the others
  kPbt,
};

// Ray's names and defaults. A mutation is of a parameter of the search, within what the
// search file says of it.
struct PbtOptions {
  int64_t perturbation_interval = 60;
  int64_t burn_in_period = 0;
  double quantile_fraction = 0.25;  // 0 .. 0.5
  double resample_probability = 0.25;
  std::vector<double> perturbation_factors = {1.2, 0.8};
  // Names of the parameters that a copy changes; empty: all.
  std::vector<std::string> mutations;
  bool operator==(const PbtOptions&) const = default;
};

// hyperopt.executor.scheduler. Times are in the unit of time_attr. The rules are in
// search/README.md; each reads its own members and leaves the others as they are here.
struct SchedulerOptions {
  SchedulerKind kind = SchedulerKind::kFifo;
  std::string time_attr = "training_iteration";
  int64_t max_t = 100;
  int64_t grace_period = 1;
  int64_t reduction_factor = 4;
  int64_t brackets = 1;
  bool promotion = false;                  // kAsha: mode promotion
  PbtOptions pbt = {};                     // kPbt
  int64_t min_samples_required = 3;        // kMedian
  int64_t patience = 5;                    // kPatience
  double min_delta = 0;                    // kPatience
  double std = 0.01;                       // kPlateau
  int64_t num_results = 4;                 // kPlateau
  std::optional<double> metric_threshold;  // kPlateau
  double target = 0;                       // kTarget
  // kAny: the rules, each with the time_attr that stands here, none of them kFifo, kAny
  // or one that runs in pieces, and those that have a max_t with the same.
  std::vector<SchedulerOptions> of;
  // A trial runs to a budget, waits, and goes on.
  bool pieces() const { return promotion || kind == SchedulerKind::kPbt; }
  bool operator==(const SchedulerOptions&) const = default;
};

enum class ValueRule { kBest, kLast };

struct EnvEntry {
  std::string value;       // a template, as a word of `command` is
  bool from_host = false;  // {from: NAME}: value is NAME, taken from hyperopt's
                           // environment; only the name is recorded
  bool operator==(const EnvEntry&) const = default;
};

// What is run when something happens (search/hooks.h): words, empty for nothing.
struct Hooks {
  std::vector<std::string> on_best, on_end, on_stuck;
  bool any() const { return !(on_best.empty() && on_end.empty() && on_stuck.empty()); }
  bool operator==(const Hooks&) const = default;
};

// An entry of `loggers`: where what trials report goes while the sweep runs
// (search/loggers.h).
enum class LoggerKind { kTensorboard, kMlflow };
struct LoggerEntry {
  LoggerKind kind = LoggerKind::kTensorboard;
  // Of kTensorboard: absolute; "": tensorboard/ in the sweep's folder.
  std::filesystem::path dir;
  // Of kMlflow. "": $MLFLOW_TRACKING_URI, and the sweep's name.
  std::string uri;
  std::string experiment;
  bool operator==(const LoggerEntry&) const = default;
};
std::string_view ToString(LoggerKind kind);

// `keep:` what stays of a trial's files once it is finished (search/keep.h), and how
// many complete checkpoints of an attempt while it runs.
enum class KeepLogs { kAll, kFailed, kNone };
enum class KeepFolders { kAll, kFailed, kBest };  // the best trial's stays always
struct KeepRules {
  int64_t best_checkpoints = 1;
  int64_t last_checkpoints = 1;
  KeepLogs logs = KeepLogs::kAll;
  KeepFolders folders = KeepFolders::kAll;
  bool operator==(const KeepRules&) const = default;
};
std::string_view ToString(KeepLogs logs);
std::string_view ToString(KeepFolders folders);

// hyperopt.executor, without the scheduler.
struct ExecutorOptions {
  int64_t num_samples = 10;
  std::optional<double> time_budget_s;
  std::optional<int64_t> max_concurrent_trials;  // nullopt: no limit but the resources
  ResourceRequest resources;
  bool gpus_given = false;             // false: 1 a trial where there are GPUs
  std::optional<double> trial_wall_s;  // `max_seconds_per_trial`
  int32_t max_failures_exit = 0;       // plain non-zero exits that are tried again
  int32_t max_failures_crash = 1;      // the same for a signal or memory
  int32_t max_lost = 100;
  int32_t max_initial_failures = 3;
  double stop_grace_s = 30;
  int stop_signal = 15;
  double heartbeat_s = 2;
  double controller_lost_s = 60;
  double reassign_after_s = 900;
  double store_wait_s = 600;
  double stuck_s = 60;
  int64_t log_limit = 64 << 20;  // bytes a log
};

// Beside the metric and its goal.
struct OtherObjective {
  std::string metric;  // a field of the reports
  Goal goal = Goal::kMinimize;
  bool operator==(const OtherObjective&) const = default;
};

struct SearchConfig {
  std::filesystem::path file;        // as given; "" for a string
  std::string text;                  // the file's bytes
  std::string name;                  // `name:`, else as DESIGN's rule
  std::vector<std::string> command;  // templates; empty: the built-in trainer
  std::filesystem::path dataset;     // absolute; "" where none is named
  std::string workdir;               // "", "trial", "snapshot" or an absolute path
  std::map<std::string, EnvEntry> env;
  std::vector<std::string> keep_env;
  Surroundings around;  // setup, wrapper, container, tracker, pinning
  Hooks hooks;
  std::vector<LoggerEntry> loggers;
  KeepRules keep;
  std::vector<ReadSource> read;  // besides $HYPEROPT_REPORT
  // The file's other top-level keys, or those of `base_config` with them merged in. A
  // JSON object.
  std::string model;
  bool has_base_config = false;
  // Other files whose content is part of this configuration (base_config, the rows of
  // search_alg list): a hash of what was read, by absolute path.
  std::map<std::string, std::string> inputs;

  Goal goal = Goal::kMinimize;
  std::string metric;
  std::string output_feature = "combined";
  std::string split = "validation";
  ValueRule value = ValueRule::kBest;
  SearchSpace space;
  std::map<std::string, std::optional<std::string>>
      arg_names;  // `arg:`; nullopt = left out
  SamplerOptions sampler;
  // `objectives` after the first, which is goal and metric; with them a trial's values
  // are its last ones.
  std::vector<OtherObjective> objectives;
  // How often a promising configuration is run, each time with another seed
  // (search/repeats.h); num_samples counts configurations.
  int64_t repeats = 1;
  // Folders (or sweep.db) of sweeps whose results the sampler begins from; absolute.
  // What they hold is in sampler.known once it was read (search/warm_start.h).
  std::vector<std::filesystem::path> warm_start;
  // Where each is written, for messages: "search.yaml:12:19:
  // hyperopt.search_alg.warm_start".
  std::vector<std::string> warm_start_places;
  SchedulerOptions scheduler;
  ExecutorOptions executor;

  // Everything that is said to the user though nothing is wrong: "time_budget_s is
  // absent: no limit (Ludwig: 3600)", "executor.kubernetes_namespace has no use here".
  std::vector<std::string> notes;

  // The report field that is the metric: `metric` with a command; with the built-in
  // trainer the trainer's name of (split, output_feature, metric).
  std::string metric_field() const;
};

// One `--set key=value`: a dotted name, YAML text.
struct Override {
  std::string key;
  std::string value;
};

// Throws ConfigErrors with every error found.
SearchConfig LoadConfig(const std::filesystem::path& path,
                        const std::vector<Override>& overrides = {},
                        const std::optional<std::filesystem::path>& dataset = {});
// `name` stands for the file in messages; relative paths are of `folder`.
SearchConfig ParseConfig(const std::string& text,
                         const std::string& name,
                         const std::filesystem::path& folder,
                         const std::vector<Override>& overrides = {},
                         const std::optional<std::filesystem::path>& dataset = {});

// The settings that a resume compares: JSON text by dotted name, and for each whether a
// changed value simply applies or is refused (DESIGN, "The record").
enum class OnChange { kApplies, kRefused };
std::map<std::string, std::string> ComparedSettings(const SearchConfig& config);
OnChange WhatAChangeMeans(const std::string& setting);

// The resolved configuration as JSON, for the record and for `check`.
std::string ResolvedJson(const SearchConfig& config);

}  // namespace hyperopt
