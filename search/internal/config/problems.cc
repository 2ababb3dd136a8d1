#include "search/internal/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace hyperopt::internal {
namespace {

constexpr size_t kMostLines = 100;
constexpr size_t kLongestLine = 2000;

// A name out of the file may hold anything; a terminal must not.
std::string Printable(std::string text) {
  if (text.size() > kLongestLine) text = text.substr(0, kLongestLine) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace

Problems::Problems(std::string file) : sources_{{std::move(file), true}} {}

int Problems::AddSource(std::string name) {
  sources_.push_back({std::move(name), false});
  return static_cast<int>(sources_.size()) - 1;
}

int Problems::AddFile(std::string name) {
  sources_.push_back({std::move(name), true});
  return static_cast<int>(sources_.size()) - 1;
}

std::string Problems::Where(const Place& place) const {
  const Source& source = sources_[static_cast<size_t>(place.source)];
  if (!source.is_file || place.line <= 0) return source.name;
  return fmt::format("{}:{}:{}", source.name, place.line, place.column);
}

void Problems::Add(const Place& place, std::string_view path, std::string_view text) {
  const Source& source = sources_[static_cast<size_t>(place.source)];
  std::string line = Where(place);
  // "--set a.b: a.b: ..." would say it twice.
  const bool said = !source.is_file && line == fmt::format("--set {}", path);
  if (!path.empty() && !said) line += fmt::format(": {}", path);
  line += fmt::format(": {}", text);
  problems_.push_back({place, Printable(std::move(line))});
}

std::vector<std::string> Problems::Lines() const {
  std::vector<Problem> sorted = problems_;
  std::ranges::stable_sort(sorted, {}, [](const Problem& problem) {
    const Place& at = problem.place;
    return std::tuple(at.source, at.line, at.column);
  });
  std::vector<std::string> lines;
  for (const Problem& problem : sorted) {
    if (std::ranges::find(lines, problem.line) != lines.end()) continue;
    if (lines.size() == kMostLines) {
      lines.push_back(
          fmt::format("{} of {} problems shown", kMostLines, problems_.size()));
      break;
    }
    lines.push_back(problem.line);
  }
  return lines;
}

}  // namespace hyperopt::internal
