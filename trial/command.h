// Templates of command words and environment values: `${name}` and its relatives
// (DESIGN, "The contract with a trial").
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trial/param_value.h"

namespace hyperopt {

// `arg:` of the parameters: the name in ${args}; nullopt leaves the parameter out.
using ArgNames = std::map<std::string, std::optional<std::string>>;

// What the places of a template stand for.
struct TemplateValues {
  const Params* params = nullptr;
  // "trial.id" -> "17", "trial.dir", "trial.attempt", "trial.seed", "trial.budget",
  // "trial.params", "trial.config", "sweep.name", "config.dir". One that is absent (no
  // budget was set) stands for nothing.
  std::map<std::string, std::string, std::less<>> names;
  std::function<std::optional<std::string>(std::string_view)> env;  // ${env.X}
  const ArgNames* arg_names = nullptr;
};

// What is wrong with `words` as a command: an unknown place, an unclosed "${", a
// parameter inside the word after a shell's -c. `parameters` are the names of the
// search space. nullopt where it is fine. The text tells the way out.
std::optional<std::string> ProblemWithCommand(std::span<const std::string> words,
                                              std::span<const std::string> parameters);
// The same for one value of `env:`.
std::optional<std::string> ProblemWithTemplate(std::string_view text,
                                               std::span<const std::string> parameters);

// The words to run. A word that is `${args}` alone becomes one word a parameter, in
// name order: `--name=value`. After a colon stand other styles, which may be combined
// (`${args:space,dashes}`):
//   space    --name value, two words
//   dashes   _ in a name becomes -
//   flags    true is --name, false is nothing
//   noflags  true is --name, false is --no-name
//   hydra    name=value by the grammar of Hydra's overrides; stands alone
// Throws ConfigError for a word over 128 KiB, naming $HYPEROPT_PARAMS, and for an
// ${env.X} that is not set.
std::vector<std::string> ExpandCommand(std::span<const std::string> words,
                                       const TemplateValues& values);
std::string ExpandTemplate(std::string_view text, const TemplateValues& values);

// The NAMEs of every ${env.NAME}, as they stand.
std::vector<std::string> EnvironmentNames(std::span<const std::string> words);

// Whether a word is `${args}` in any style.
bool HasArgs(std::span<const std::string> words);
// Parameters that the command's words never mention, nor ${args} hands on, in name
// order.
std::vector<std::string> UnusedParameters(std::span<const std::string> words,
                                          std::span<const std::string> parameters,
                                          const ArgNames& arg_names = {});

}  // namespace hyperopt
