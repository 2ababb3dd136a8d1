// The words of a program, taken apart: which of them are options, in which form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt::internal {

struct Option {
  enum class Form { kEquals, kSpace, kShort, kFlag, kNoFlag, kHydra };
  Form form = Form::kEquals;
  std::string name;   // as typed, without dashes
  std::string value;  // "" for a flag
  size_t words = 1;   // how many it takes
};

// The option that begins at `at`; nullopt for a word that is none or is not understood.
// Of several words after an option the first is its value, but several numbers are a
// list that stays together.
std::optional<Option> OptionAt(const std::vector<std::string>& words, size_t at);

// How many of the words start the program, with the options of its launcher:
// `python -u train.py`, `torchrun --nproc_per_node=2 train.py`, `python -m pkg.train`.
size_t CountOfProgram(const std::vector<std::string>& words);

// 3, -0.5, .1, 1e-3.
bool IsNumber(std::string_view word);

}  // namespace hyperopt::internal
