#include "trainer/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "trainer/check.h"
#include "trainer/checkpoint.h"
#include "trainer/options.h"
#include "trainer/reporter.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr const char* kDescription =
    "Trains the model of a Ludwig-style config (JSON) on a CSV table, on one rank or, "
    "started once a rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, on many. "
    "As a trial of hyperopt it is told everything by the environment (HYPEROPT_CONFIG, "
    "HYPEROPT_REPORT, HYPEROPT_CHECKPOINT_DIR, ...); flags win over it.";

template <typename Value>
void AddOption(CLI::App& app,
               const char* name,
               std::optional<Value>& value,
               const char* help) {
  app.add_option_function<std::string>(
      name, [&value](const std::string& text) { value = text; }, help);
}

void AddFlags(CLI::App& app,
              TrainerOptions& options,
              std::string& config,
              int& timeout) {
  app.set_version_flag("--version", HYPEROPT_VERSION);
  app.add_option("--config", config, "The model config, JSON");
  AddOption(
      app, "--dataset", options.dataset, "The table, CSV; wins over the config's");
  AddOption(app, "--report", options.report, "Append one JSON line an epoch here");
  AddOption(app,
            "--checkpoint-dir",
            options.checkpoints,
            "Keep a checkpoint of each epoch here, as DIR/<epoch>/");
  AddOption(
      app,
      "--resume-from",
      options.resume_from,
      "Go on from this checkpoint, or from the newest complete one in this folder");
  app.add_option("--seed", options.seed, "Seed of weights, order and dropout (42)");
  app.add_option_function<int64_t>(
         "--budget",
         [&options](const int64_t& epochs) { options.budget = epochs; },
         "Stop once this many epochs are done")
      ->check(CLI::PositiveNumber);
  app.add_option("--join-timeout", timeout, "Seconds to wait for the other ranks (120)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--check", options.check, "Check config and data and train nothing");
  app.add_flag("--json", options.json, "With --check: one JSON object on stdout");
}

void PrintLine(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void PrintErrors(const TrainerOptions& options,
                 const std::vector<SchemaError>& errors) {
  for (const SchemaError& error : errors) {
    fmt::print(
        stderr, "{}: {}: {}\n", options.config.string(), error.path, error.message);
  }
}

int Check(const TrainerOptions& options) {
  const LoadedJob job = LoadJob(options);
  const OrderedJson report = CheckReport(job, options.rank.world_size);
  if (options.json) {
    PrintLine(DumpJson(report));
  } else if (job.errors.empty()) {
    PrintLine(DumpJson(report["config"], 2));
    const auto& rows = report["rows"];
    PrintLine(fmt::format("# rows: train {}, validation {}, test {}; {} steps an epoch",
                          rows["train"].get<int64_t>(),
                          rows["validation"].get<int64_t>(),
                          rows["test"].get<int64_t>(),
                          report["steps_per_epoch"].get<int64_t>()));
  } else {
    PrintErrors(options, job.errors);
  }
  return static_cast<int>(job.errors.empty() ? ExitCode::kDone : ExitCode::kUsage);
}

std::filesystem::path CheckpointToResume(const std::filesystem::path& path) {
  const auto checkpoint = FindCheckpoint(path);
  if (!checkpoint) {
    throw EnvironmentError(path.string() + ": there is no complete checkpoint");
  }
  return *checkpoint;
}

std::string EpochLine(const TrainerConfig& trainer,
                      int64_t step,
                      const ReportFields& fields,
                      double seconds) {
  std::string line = fmt::format("epoch {}/{}", step, trainer.epochs);
  for (const char* split : {"train", "validation"}) {
    const auto loss = fields.find(fmt::format("{}.combined.loss", split));
    if (loss != fields.end())
      line += fmt::format("  {} loss {:.5f}", split, loss->second);
  }
  for (const char* metric : {"accuracy", "roc_auc", "r2"}) {
    const auto value = fields.find(metric);
    if (value != fields.end())
      line += fmt::format("  {} {:.4f}", metric, value->second);
  }
  return fmt::format("{}  {:.2f} s", line, seconds);
}

std::string EndLine(TrainEnd end) {
  switch (end) {
    case TrainEnd::kEpochsDone:
      return "done: all epochs";
    case TrainEnd::kBudgetReached:
      return "done: the budget is reached";
    case TrainEnd::kEarlyStopped:
      return "done: early_stop, no improvement";
    case TrainEnd::kStopRequested:
      return "stopped: asked to";
    case TrainEnd::kDiverged:
      return "done: the training diverged, its loss is not finite";
  }
  return "";
}

int TrainWith(const TrainerOptions& options, const std::atomic<bool>& stop) {
  const LoadedJob loaded = LoadJob(options);
  if (!loaded.errors.empty()) {
    if (options.rank.rank == 0) PrintErrors(options, loaded.errors);
    return static_cast<int>(ExitCode::kUsage);
  }
  const bool speaks = options.rank.rank == 0;
  Reporter reporter(speaks ? options.report : std::nullopt);
  TrainJob job{.config = loaded.config,
               .data = *loaded.data,
               .rank = options.rank,
               .seed = options.seed,
               .budget = options.budget,
               .checkpoint_dir = options.checkpoints,
               .resume_from = {},
               .trial = options.trial,
               .stop = stop,
               .on_epoch = {},
               .on_note = PrintLine};
  if (options.resume_from) job.resume_from = CheckpointToResume(*options.resume_from);
  const auto start = std::chrono::steady_clock::now();
  job.on_epoch = [&](int64_t step, const ReportFields& fields) {
    reporter.Append(FormatReport(step, fields));
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    PrintLine(EpochLine(job.config.trainer, step, fields, spent.count()));
  };
  const TrainEnd end = Train(job);
  if (speaks) PrintLine(EndLine(end));
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace

int RunTrainer(int argc, char** argv, const std::atomic<bool>& stop) {
  CLI::App app(kDescription, "hyperopt-train");
  try {
    TrainerOptions options = OptionsFromEnvironment(
        [](const char* name) -> const char* { return std::getenv(name); });
    std::string config = options.config;
    int timeout = static_cast<int>(options.rank.join_timeout.count());
    AddFlags(app, options, config, timeout);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
    }
    options.config = config;
    options.rank.join_timeout = std::chrono::seconds(timeout);
    if (config.empty()) throw ConfigError("no config: give --config FILE");
    return options.check ? Check(options) : TrainWith(options, stop);
  } catch (const Error& error) {
    fmt::print(stderr, "hyperopt-train: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "hyperopt-train: {}\n", error.what());
    return static_cast<int>(ExitCode::kEnvironment);
  }
}

}  // namespace hyperopt
