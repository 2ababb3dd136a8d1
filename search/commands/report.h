// `hyperopt report`: a sweep as one HTML file that opens anywhere, without a network,
// or as pictures for a paper.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "search/report/picture.h"

namespace hyperopt {

enum class ReportFormat { kHtml, kSvg, kPng };

std::optional<ReportFormat> ReportFormatFromString(const std::string& text);

struct ReportOptions {
  std::optional<std::filesystem::path> dir;
  // Absent: <dir>/report.html, <dir>/report-<view>.svg
  std::optional<std::filesystem::path> output;
  std::optional<ReportFormat> format;  // absent: kHtml
  std::optional<Picture> view;         // of a picture; absent: all, a file each
  bool open = false;                   // in the desktop's browser
};
// Writes the file, whole or not at all, and prints its path; of pictures several.
// Beside a living controller it shows the sweep as it is recorded now.
int ReportCommand(const ReportOptions& options);

}  // namespace hyperopt
