#include "trainer/reporter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

}  // namespace

std::string FormatReport(int64_t step, const ReportFields& fields) {
  std::string line = fmt::format("{{\"step\": {}", step);
  for (const auto& [name, value] : fields) {
    line += fmt::format(", {}: {}", QuoteJson(name), Number(value));
  }
  return line + "}";
}

Reporter::Reporter(const std::optional<std::filesystem::path>& path) {
  if (!path) return;
  path_ = *path;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) ThrowFileError(path_, "open the report file", errno);
}

Reporter::~Reporter() {
  if (fd_ >= 0) ::close(fd_);
}

void Reporter::Append(const std::string& line) {
  if (fd_ < 0) return;
  const std::string text = line + "\n";
  ssize_t written = -1;
  do {
    written = ::write(fd_, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(text.size())) {
    ThrowFileError(path_, "append a report line", written < 0 ? errno : ENOSPC);
  }
}

}  // namespace hyperopt
