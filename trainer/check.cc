#include "trainer/check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trainer/batches.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

OrderedJson ReadConfig(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path.string() + ": no such file");
  try {
    return ParseJson(*text);
  } catch (const ConfigError& error) {
    const std::string extension = path.extension();
    const bool yaml = extension == ".yaml" || extension == ".yml";
    throw ConfigError(fmt::format(
        "{}: {}{}",
        path.string(),
        error.what(),
        yaml ? "; hyperopt-train reads JSON, YAML goes through hyperopt" : ""));
  }
}

std::filesystem::path DatasetPath(const TrainerOptions& options,
                                  const ModelConfig& config) {
  if (options.dataset) return *options.dataset;
  return options.config.parent_path() / config.dataset;
}

// "path: message" lines of a ConfigError about the data.
void AddDataErrors(const std::string& text, std::vector<SchemaError>& errors) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const size_t colon = line.find(": ");
    bool placed = false;
    for (const char* section :
         {"input_features.", "output_features.", "preprocessing."}) {
      placed = placed || (line.starts_with(section) && colon != std::string::npos);
    }
    if (placed) {
      errors.push_back({line.substr(0, colon), line.substr(colon + 2)});
    } else {
      errors.push_back({"dataset", line});
    }
    begin = end + 1;
  }
}

}  // namespace

OrderedJson LoadedJob::resolved() const { return ResolvedConfig(config); }

LoadedJob LoadJob(const TrainerOptions& options) {
  LoadedJob job;
  const OrderedJson json = ReadConfig(options.config);
  job.config = ParseModelConfig(json, job.errors);
  if (!options.dataset && job.config.dataset.empty()) {
    job.errors.push_back(
        {"dataset", "is missing; name the table here or with --dataset"});
  }
  // Columns are only compared with features that could be read.
  if (!job.errors.empty()) return job;
  try {
    job.data = BuildDataset(job.config, ReadCsv(DatasetPath(options, job.config)));
  } catch (const Error& error) {
    AddDataErrors(error.what(), job.errors);
  }
  return job;
}

OrderedJson CheckReport(const LoadedJob& job, int ranks) {
  OrderedJson report = {{"errors", OrderedJson::array()}};
  for (const SchemaError& error : job.errors) {
    report["errors"].push_back({{"path", error.path}, {"message", error.message}});
  }
  if (!job.errors.empty()) return report;
  const SplitRows& split = job.data->split;
  const auto train_rows = static_cast<int64_t>(split.train.size());
  const int64_t batch_size =
      job.config.trainer.batch_size.value_or(AutoBatchSize(train_rows, ranks));
  report["metrics"] = ReportedFields(job.resolved());
  report["steps_per_epoch"] = BatchPlan(split.train, batch_size, 0, ranks).steps();
  report["rows"] = {{"train", train_rows},
                    {"validation", split.validation.size()},
                    {"test", split.test.size()}};
  report["config"] = job.resolved();
  return report;
}

}  // namespace hyperopt
