// A folder for tests of readers, and what frameworks really wrote (executors/testdata).
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "executors/report_reader.h"

namespace hyperopt::testing {

inline constexpr int64_t kAll = 1 << 30;

class ReportFolder {
 public:
  ReportFolder() {
    std::string name = std::filesystem::temp_directory_path() / "ho reports.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~ReportFolder() { std::filesystem::remove_all(path_); }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path Append(const std::string& name, std::string_view text) const {
    return Write(name, text, std::ios::app);
  }
  std::filesystem::path Replace(const std::string& name, std::string_view text) const {
    return Write(name, text, std::ios::trunc);
  }

 private:
  std::filesystem::path Write(const std::string& name,
                              std::string_view text,
                              std::ios::openmode mode) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, mode | std::ios::binary) << text;
    return file;
  }

  std::filesystem::path path_;
};

// The text of a file in executors/testdata.
std::string Fixture(const std::string& name);

// The values of a field, in the order of the reports that have it.
inline std::vector<double> ValuesOf(const std::vector<ReportLine>& lines,
                                    const std::string& field) {
  std::vector<double> values;
  for (const ReportLine& line : lines) {
    const auto value = line.values.find(field);
    if (value != line.values.end()) values.push_back(value->second);
  }
  return values;
}

inline std::vector<ReportLine> ReadLines(ReportReader& reader,
                                         ReadMode mode = ReadMode::kWholeLines) {
  auto read = reader.Read(mode, kAll);
  return read ? read->lines : std::vector<ReportLine>();
}

}  // namespace hyperopt::testing
