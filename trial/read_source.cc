#include "trial/read_source.h"

#include <fmt/format.h>

#include <array>

namespace hyperopt {
namespace {

constexpr std::string_view kOwnFolder = "${trial.dir}/";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c == '/' ? '_' : c;
  }
  return escaped;
}

std::string_view WithoutOwnFolder(std::string_view glob) {
  while (glob.starts_with("./")) glob.remove_prefix(2);
  if (glob.starts_with(kOwnFolder)) glob.remove_prefix(kOwnFolder.size());
  return glob;
}

bool LeadsUp(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == path.npos) return false;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::string> ProblemWithPlaces(std::string_view rest) {
  constexpr std::array<std::string_view, 3> kPlaces = {
      "${trial.id}", "${trial.attempt}", "${sweep.name}"};
  for (size_t at = rest.find("${"); at != rest.npos; at = rest.find("${", at + 2)) {
    bool known = false;
    for (const std::string_view place : kPlaces) {
      known = known || rest.substr(at).starts_with(place);
    }
    if (known) continue;
    return fmt::format(
        "{} has no meaning here; files are looked for in the trial's own folder, so "
        "write * for it (${{trial.id}}, ${{trial.attempt}} and ${{sweep.name}} are "
        "known)",
        rest.substr(at, rest.find('}', at) - at + 1));
  }
  return std::nullopt;
}

}  // namespace

std::string_view KeyOf(ReadKind kind) {
  switch (kind) {
    case ReadKind::kPatterns:
    case ReadKind::kDicts:
      return "output";
    case ReadKind::kCsv:
      return "csv";
    case ReadKind::kJsonLines:
      return "jsonl";
    case ReadKind::kTensorboard:
      return "tensorboard";
  }
  return "";
}

bool IsOfFiles(ReadKind kind) { return KeyOf(kind) != "output"; }

std::optional<std::string> ProblemWithGlob(std::string_view glob) {
  const std::string_view rest = WithoutOwnFolder(glob);
  if (rest.empty()) return "names no file";
  if (rest.starts_with('/') || rest.starts_with('~') || LeadsUp(rest)) {
    return "must lie in the trial's own folder, or a trial could read another's "
           "numbers: let the program write there (`workdir: trial`, or hand it "
           "${trial.dir}) and name the file relative to it";
  }
  return ProblemWithPlaces(rest);
}

std::string ExpandGlob(std::string_view glob,
                       const RunKey& key,
                       std::string_view sweep_name) {
  std::string text(WithoutOwnFolder(glob));
  const std::array<std::pair<std::string_view, std::string>, 3> places = {{
      {"${trial.id}", fmt::format("{}", key.trial.value())},
      {"${trial.attempt}", fmt::format("{}", key.attempt.value())},
      {"${sweep.name}", Escaped(sweep_name)},
  }};
  for (const auto& [place, value] : places) {
    for (size_t at = text.find(place); at != text.npos; at = text.find(place, at)) {
      text.replace(at, place.size(), value);
      at += value.size();
    }
  }
  return text;
}

}  // namespace hyperopt
