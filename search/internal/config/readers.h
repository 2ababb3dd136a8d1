// The readers of the search file's sections. Each takes its keys, tells what is wrong
// with them, and fills its part of the configuration; none stops at an error.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/internal/config/section.h"

namespace hyperopt::internal {

// What the readers share.
struct Reading {
  SearchConfig& config;
  Problems& problems;
  const Value& root;  // a map
  bool has_command = false;
  std::filesystem::path folder;  // of relative paths; absolute
  // Where the model's keys stand: `root` itself, or with a command and `base_config`
  // that configuration with the file's other keys merged in.
  Value model;
  std::set<size_t> bad_points;  // of points_to_evaluate: told what is wrong with them
  bool has_scheduler = false;
  bool wants_tpe = false;  // the scheduler is BOHB's half
};

// A key of the top level that is not the model's.
bool IsOwnKey(std::string_view key);

// `base_config`: sets reading.model; without a command its keys are put into `root`,
// where the file does not say otherwise.
inline constexpr std::string_view kBaseConfig = "base_config";
void ReadBaseConfig(Value& root, Reading& reading);
// Says of each name that leads to a key that base_config does not have.
void NoteNewKeys(const std::vector<std::string>& parameters, Reading& reading);
// The text of a file that becomes part of the configuration, noted in config.inputs.
// nullopt where it can not be read, which is told.
std::optional<std::string> ReadInput(const std::filesystem::path& path,
                                     Reading& reading);

// `env` and `keep_env`.
void ReadEnvironment(Section& top, Reading& reading);
// `command`, and whether `arg:` has a use. REQUIRES: parameters and env have been read.
void ReadCommand(Section& top, Reading& reading);
// `keep`.
// A list of words, or a text that is split into words; `such` is an example. Empty
// where the key is absent, or where it was told what is wrong.
std::vector<std::string> ReadWords(Section& section, const char* key, const char* such);

void ReadKeep(Section& top, Reading& reading);
// `setup`, `wrapper`, `container`, `tracker`. REQUIRES: resources have been read.
void ReadSurroundings(Section& top, Reading& reading);
// `hooks`.
void ReadHooks(Section& top, Reading& reading);
// `loggers`.
void ReadLoggers(Section& top, Reading& reading);
// `read`. REQUIRES: command, env and places have been read.
void ReadReports(Section& top, Reading& reading);
// `name` (or what stands for it), `dataset`, `workdir`. `file_name` is the search
// file's.
void ReadPlaces(Section& top, const std::string& file_name, Reading& reading);
// A key is meant to be `command`, and told by ReadModel: the file is read as if it
// were.
bool HasMisspeltCommand(const Value& root);
// All other keys of the top level, and what the built-in trainer must find there.
void ReadModel(Section& top, Reading& reading);

// hyperopt.goal, metric, output_feature, split, value.
void ReadObjective(Section& hyperopt, Reading& reading);
// hyperopt.repeats. REQUIRES: objectives and scheduler have been read.
void ReadRepeats(Section& hyperopt, Reading& reading);
// hyperopt.parameters; fills space and arg_names.
void ReadParameters(Section& hyperopt, Reading& reading);
// The space of the parameters that `map` has, entry by entry, with `when` and
// hyperopt.constraints.
void SettleSpace(const Value& map,
                 std::vector<Parameter> parameters,
                 Section& hyperopt,
                 Reading& reading);
// hyperopt.search_alg. REQUIRES: the parameters and the executor have been read.
void ReadSearchAlg(Section& hyperopt, Reading& reading);
// Its evaluated_rewards and warm_start. REQUIRES: type and points have been read.
void ReadKnown(Section& alg, Reading& reading);
// search_alg {type: list}: puts the rows of `file` in its place, and spaces for those
// of its columns that have none into hyperopt.parameters.
void ReadListFile(Value& root, Reading& reading);
// The rows. REQUIRES: the parameters and the executor have been read.
void ReadList(Section& alg, Reading& reading);
// hyperopt.executor with its scheduler, and what of resources stands beside it:
// `backend`, `ranks`.
void ReadExecutor(Section& hyperopt, Section& top, Reading& reading);
void ReadScheduler(Section& executor, Reading& reading);
// The scheduler that search_alg bohb goes with, where none is given.
void UseHyperband(Reading& reading);
// What `type: pbt` has beside time_attr. REQUIRES: the parameters have been read.
void ReadPbt(Section& scheduler, Reading& reading);
void ReadResources(Section& executor, Section& top, Reading& reading);

// One entry of hyperopt.parameters. nullopt where it was told what is wrong.
std::optional<Domain> ReadDomain(const Value& entry,
                                 const std::string& path,
                                 Reading& reading);
// The entry in today's spelling where it is in that of Ludwig 0.4 or before.
std::optional<std::string> ModernSpelling(const Value& entry);

// The features of a Ludwig file: what the names of `group` (input_features or
// output_features) are. Tells nothing.
std::vector<std::string> FeatureNames(const Value& root, std::string_view group);

// Sets `key` (a dotted name) in the tree. Tells where it can not be set.
void ApplyOverride(const Override& override, Value& root, Problems& problems);

}  // namespace hyperopt::internal
