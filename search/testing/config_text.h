// Search files in one line, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "search/config.h"

namespace hyperopt::testing {

// `text` as /data/sweeps/search.yaml.
inline SearchConfig Parse(const std::string& text,
                          const std::vector<Override>& overrides = {}) {
  return ParseConfig(text, "search.yaml", "/data/sweeps", overrides);
}

// The lines that ParseConfig throws; empty where it does not throw.
inline std::vector<std::string> ErrorsOf(const std::string& text,
                                         const std::vector<Override>& overrides = {}) {
  try {
    Parse(text, overrides);
  } catch (const ConfigErrors& errors) {
    return errors.lines();
  }
  return {};
}

inline bool Has(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(
      lines, [&part](const std::string& line) { return line.find(part) != line.npos; });
}

// All lines in one, so that a failed check shows them.
inline std::string Errors(const std::string& text,
                          const std::vector<Override>& overrides = {}) {
  std::string joined;
  for (const std::string& line : ErrorsOf(text, overrides)) joined += line + "\n";
  return joined;
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// A sound file with a command, and `more` at the top level.
inline std::string CommandFile(const std::string& hyperopt_more = "",
                               const std::string& more = "") {
  return "command: [run, \"${args}\"]\n" + more +
         "hyperopt:\n"
         "  metric: loss\n"
         "  parameters: {lr: {space: uniform, lower: 0, upper: 1}}\n" +
         hyperopt_more;
}

inline std::string WithSpace(const std::string& space) {
  return "command: [run, \"${args}\"]\nhyperopt: {metric: loss, parameters: {p: " +
         space + "}}\n";
}

// What a Ludwig file that only shows its `hyperopt` section leaves out.
inline const std::string kFeatures =
    "\ninput_features: [{name: title, type: category}, {name: age, type: number}]\n"
    "output_features: [{name: income, type: binary}]\n";

inline std::string LudwigFile(const std::string& hyperopt_more = "",
                              const std::string& more = "") {
  return kFeatures.substr(1) + more +
         "hyperopt:\n"
         "  parameters:\n"
         "    trainer.learning_rate: {space: uniform, lower: 0, upper: 1}\n" +
         hyperopt_more;
}

}  // namespace hyperopt::testing
