// What `read:` of a search file asks for: where a trial's reports come from besides
// $HYPEROPT_REPORT.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trial/ids.h"

namespace hyperopt {

enum class ReadKind {
  kPatterns,     // lines of stdout and stderr, by regular expressions
  kDicts,        // JSON or Python dicts in stdout and stderr
  kCsv,          // files
  kJsonLines,    // files
  kTensorboard,  // event files
};

// "output" (of both kinds that read it), "csv", "jsonl", "tensorboard".
std::string_view KeyOf(ReadKind kind);
bool IsOfFiles(ReadKind kind);

struct ReadSource {
  ReadKind kind = ReadKind::kPatterns;
  // kPatterns: field, ECMAScript regex whose first group (or whole match) is the
  // number.
  std::vector<std::pair<std::string, std::string>> patterns;
  // Files, in the attempt's own folder: `*`, `?`, `[...]`, and `**` for folders at any
  // depth. May begin with ${trial.dir}/ and hold ${trial.id}, ${trial.attempt},
  // ${sweep.name}.
  std::string glob;
  // A field as it is written -> as it is reported, "step" too.
  std::map<std::string, std::string> rename;
  bool operator==(const ReadSource&) const = default;
};

// What is wrong with a glob, and the way out; nullopt where it is fine. A trial's own
// folder begins empty with each attempt, so that what is found there is the attempt's:
// a place outside it is refused.
std::optional<std::string> ProblemWithGlob(std::string_view glob);

// Relative to the attempt's folder; what places stand for matches as it is written.
// REQUIRES: no ProblemWithGlob.
std::string ExpandGlob(std::string_view glob,
                       const RunKey& key,
                       std::string_view sweep_name);

}  // namespace hyperopt
