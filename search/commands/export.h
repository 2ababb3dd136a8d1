// A sweep as other programs read it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "search/commands/recorded_sweep.h"

namespace hyperopt {

enum class ExportFormat {
  kCsv,          // a line a trial, a column a parameter
  kJson,         // DESIGN's stable shape
  kLudwig,       // hyperopt_statistics.json
  kTensorboard,  // a folder of event files
  kMlflow,       // to a server
  kOptuna,       // a SQLite storage
};

std::optional<ExportFormat> ExportFormatFromString(const std::string& text);

using TextSink = std::function<void(std::string_view)>;

// Piece by piece, so that reports of a long sweep need not fit into memory.
void ExportJson(const RecordedSweep& sweep, const TextSink& sink);
void ExportCsv(const RecordedSweep& sweep, const TextSink& sink);
void ExportLudwig(const RecordedSweep& sweep, const TextSink& sink);

// Event files of `folder`, one a trial, with scalars and what the HParams tab reads.
// Those of an earlier export of the same sweep are replaced.
void ExportTensorboard(const RecordedSweep& sweep, const std::filesystem::path& folder);
// Logs what the server does not have yet, and says what is there. `uri` "": that of
// $MLFLOW_TRACKING_URI. Throws ConfigError, EnvironmentError.
std::string ExportMlflow(const RecordedSweep& sweep, const std::string& uri);
// Throws ConfigError where there is such a file.
void ExportOptuna(const RecordedSweep& sweep, const std::filesystem::path& file);

struct ExportOptions {
  std::optional<std::filesystem::path> dir;
  std::optional<ExportFormat> format;           // absent: kCsv
  std::optional<std::filesystem::path> output;  // a file instead of stdout
  std::string uri;                              // of an MLflow server
};
int ExportCommand(const ExportOptions& options);

}  // namespace hyperopt
