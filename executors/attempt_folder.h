// The files of one attempt: <sweep>/trials/<trial>/<run>/<attempt>/, and what its ranks
// are told.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "executors/keeper.h"
#include "executors/messages.h"

namespace hyperopt {

// Names in the folder.
inline constexpr char kReportFile[] = "report.jsonl";
inline constexpr char kParamsFile[] = "params.json";
inline constexpr char kConfigFile[] = "config.json";
inline constexpr char kStdoutFile[] = "stdout.log";
inline constexpr char kStderrFile[] = "stderr.log";
inline constexpr char kCheckpointFolder[] = "checkpoints";

std::filesystem::path AttemptDir(const std::filesystem::path& sweep_dir,
                                 const RunKey& key);

// Makes the folder with params.json, config.json (the merged configuration), the
// checkpoints' folder and, last, an empty report. Where the report is there already
// nothing is touched, so that a repeated launch changes nothing. Throws
// EnvironmentError (disk full, not writable) or ConfigError (a value that can not be
// merged).
void PrepareAttemptDir(const std::filesystem::path& dir,
                       const SweepSpec& sweep,
                       const Launch& launch);

// The processes of a launch, by the contract: words expanded, environment complete.
// `base_env` is the executor's own environment, "NAME=value". Rank 0 writes stdout.log
// and stderr.log, rank k > 0 stdout.<k>.log and stderr.<k>.log, and its
// HYPEROPT_REPORT is /dev/null: rank 0 reports. With one rank RANK, WORLD_SIZE,
// LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR, MASTER_PORT and
// TORCHELASTIC_RUN_ID are cleared, with more they are set; `master_port` is a port that
// was free a moment ago. `cpus` are those that each rank is pinned to, by rank. With a
// container the words are the engine's, and end it. Throws ConfigError where a word can
// not be expanded.
std::vector<RankSpec> MakeRanks(const SweepSpec& sweep,
                                const Launch& launch,
                                const std::filesystem::path& dir,
                                const std::vector<std::string>& base_env,
                                int master_port,
                                const std::vector<std::vector<int>>& cpus = {});

// HYPEROPT_PARAM_TRAINER_LEARNING_RATE for trainer.learning_rate.
std::string ParameterVariable(std::string_view name);

// A TCP port that nothing listens on at this moment.
int FreePort();

// Steps of the complete checkpoints (a folder named by a number that holds COMPLETE),
// ascending.
std::vector<int64_t> CompleteCheckpoints(const std::filesystem::path& attempt_dir);

// Deletes complete checkpoints of steps up to `last_step` except best_step's, the
// newest complete one's and `keep`; never one that is not complete and newer.
void PruneCheckpoints(const std::filesystem::path& attempt_dir,
                      int64_t best_step,
                      int64_t last_step,
                      const std::vector<int64_t>& keep);

// Of the attempt's complete checkpoints those that stay beside the newest and the best:
// the first `best_count` that are there of the steps in `ranking` (best first), and the
// `last_count` newest.
std::vector<int64_t> KeptCheckpoints(const std::filesystem::path& attempt_dir,
                                     const std::vector<int64_t>& ranking,
                                     int64_t best_count,
                                     int64_t last_count);

// Keeps a log file under about `limit` bytes by punching out its middle (offsets stay
// true; the first and the last quarter stay). True where it did.
bool PunchLog(const std::filesystem::path& log, int64_t limit);

}  // namespace hyperopt
