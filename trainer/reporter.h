// Report lines: what a trial tells the search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace hyperopt {

// Field -> value; `step` is not among them.
using ReportFields = std::map<std::string, double>;

// `{"step": 3, "accuracy": 0.5, ...}` without a newline. Numbers read back exactly; NaN
// and infinities are the words NaN, Infinity and -Infinity, as Python writes them.
std::string FormatReport(int64_t step, const ReportFields& fields);

// Appends report lines to a file, each with one write to a descriptor opened O_APPEND,
// so a reader sees whole lines in order however the process ends.
class Reporter {
 public:
  // No path: Append does nothing. Throws EnvironmentError where it can not be opened.
  explicit Reporter(const std::optional<std::filesystem::path>& path);
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  ~Reporter();

  // `line` without its newline. Throws EnvironmentError where it can not be written.
  void Append(const std::string& line);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace hyperopt
