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
  kCsv,     // a line a trial, a column a parameter
  kJson,    // DESIGN's stable shape
  kLudwig,  // hyperopt_statistics.json
};

std::optional<ExportFormat> ExportFormatFromString(const std::string& text);

using TextSink = std::function<void(std::string_view)>;

// Piece by piece, so that reports of a long sweep need not fit into memory.
void ExportJson(const RecordedSweep& sweep, const TextSink& sink);
void ExportCsv(const RecordedSweep& sweep, const TextSink& sink);
void ExportLudwig(const RecordedSweep& sweep, const TextSink& sink);

struct ExportOptions {
  std::optional<std::filesystem::path> dir;
  std::optional<ExportFormat> format;           // absent: kCsv
  std::optional<std::filesystem::path> output;  // a file instead of stdout
};
int ExportCommand(const ExportOptions& options);

}  // namespace hyperopt
