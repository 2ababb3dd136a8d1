#include "search/internal/init_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "search/internal/init_guess.h"
#include "search/internal/init_words.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Found {
  std::string name;  // of the parameter
  std::string arg;   // in ${args}; "" where it is the name, "null" where it is left out
  Guess guess;
};

// One pass over the words: what is kept, what is searched.
class Draft {
 public:
  explicit Draft(const InitWords& init) : init_(init) {}

  void Read() {
    const size_t program = CountOfProgram(init_.words);
    for (size_t i = 0; i < program; ++i) Keep(init_.words[i]);
    for (size_t i = program; i < init_.words.size() && init_.words[i] != "--";) {
      if (const auto option = OptionAt(init_.words, i)) Note(*option);
      i += StepAt(i);
    }
    for (size_t i = program; i < init_.words.size();) {
      if (init_.words[i] == "--") {
        while (i < init_.words.size()) Keep(init_.words[i++]);
        break;
      }
      const size_t step = StepAt(i);
      const auto option = OptionAt(init_.words, i);
      const auto later = option ? SameAfter(*option, i + step) : std::nullopt;
      if (later && CanSearch(*later)) {
        repeated_.insert(option->name);
      } else if (!option || !Search(*option)) {
        KeepOption(option, i, step);
      }
      i += step;
    }
  }

  // optimizer beside optimizer.lr can not both be places of one configuration: Hydra's
  // group gets another name, and goes on being typed as it was.
  void RenameGroups() {
    for (Found& group : found_) {
      const bool has_below = std::ranges::any_of(found_, [&group](const Found& other) {
        return other.name.starts_with(group.name + ".");
      });
      if (!has_below) continue;
      if (group.arg.empty()) group.arg = group.name;
      group.name += "_group";
    }
  }

  // `${args}` in the style that was seen.
  std::string ArgsWord() const {
    if (hydra_) return "${args:hydra}";
    std::vector<std::string> styles;
    if (!equals_) styles.push_back("space");
    if (dashes()) styles.push_back("dashes");
    if (no_flags_) styles.push_back("noflags");
    if (flags_ && !no_flags_) styles.push_back("flags");
    return styles.empty() ? "${args}"
                          : fmt::format("${{args:{}}}", fmt::join(styles, ","));
  }

  const std::vector<std::string>& command() const { return command_; }
  const std::vector<Found>& found() const { return found_; }
  const std::string& length() const { return length_; }
  bool moved_output() const { return moved_output_; }
  bool any_args() const { return any_args_; }
  const std::set<std::string>& repeated() const { return repeated_; }

 private:
  // The last time that the option comes again: of a repeated one the last counts, and
  // one that stayed typed would overrule the parameter.
  std::optional<Option> SameAfter(const Option& option, size_t from) const {
    const auto is_short = [](const Option& o) {
      return o.form == Option::Form::kShort;
    };
    std::optional<Option> last;
    for (size_t i = from; i < init_.words.size() && init_.words[i] != "--";) {
      const auto other = OptionAt(init_.words, i);
      const bool same =
          other && other->name == option.name && is_short(*other) == is_short(option);
      if (same) last = other;
      i += StepAt(i);
    }
    return last;
  }

  size_t StepAt(size_t at) const {
    if (const auto option = OptionAt(init_.words, at)) return option->words;
    // An option with a list of numbers stays together.
    return 1;
  }

  // The style is that of all options, so all are looked at first.
  void Note(const Option& option) {
    using Form = Option::Form;
    if (option.form == Form::kHydra && !any_long_) hydra_ = true;
    if (option.form == Form::kHydra || option.form == Form::kShort) return;
    if (hydra_) return;
    any_long_ = true;
    if (option.form == Form::kEquals) equals_ = true;
    if (option.form == Form::kFlag) flags_ = true;
    if (option.form == Form::kNoFlag) no_flags_ = true;
    if (option.name.find('-') != option.name.npos) has_dash_ = true;
    if (option.name.find('_') != option.name.npos) has_underscore_ = true;
  }

  bool dashes() const { return has_dash_ && !has_underscore_; }

  static bool IsFlag(const Option& option) {
    return option.form == Option::Form::kFlag || option.form == Option::Form::kNoFlag;
  }

  bool CanSearch(const Option& option) const {
    using Form = Option::Form;
    const bool is_hydra = option.form == Form::kHydra;
    if (option.form != Form::kShort && is_hydra != hydra_) return false;
    // A plain flag beside --no-... may be one without a way to say no.
    if (option.form == Form::kFlag && (no_flags_ || IsBetterFixed(option.name, "x"))) {
      return false;
    }
    return IsFlag(option) || !IsBetterFixed(option.name, option.value);
  }

  bool Search(const Option& option) {
    using Form = Option::Form;
    if (!CanSearch(option)) return false;
    std::string name = option.name.substr(
        std::min(option.name.find_first_not_of('+'), option.name.size()));
    std::string arg = name == option.name ? "" : option.name;
    if (dashes() && option.form != Form::kShort) std::ranges::replace(name, '-', '_');
    if (!names_.insert(VariableOf(name)).second) return false;
    Found found{std::move(name), std::move(arg), {}};
    found.guess = IsFlag(option) ? GuessFlag("[true, false]") : Guessed(option);
    if (option.form == Form::kShort) {
      found.arg = "null";
      command_.push_back("-" + option.name);
      command_.push_back("${" + option.name + "}");
    } else if (!any_args_) {
      any_args_ = true;
      command_.push_back(ArgsWord());
    }
    found_.push_back(std::move(found));
    return true;
  }

  // Hydra's multirun lists what is tried; else a guess by type and name.
  Guess Guessed(const Option& option) const {
    const bool lists = option.form == Option::Form::kHydra &&
                       option.value.find(',') != option.value.npos &&
                       option.value.find_first_of("[{('\"") == option.value.npos;
    if (!lists) return GuessSpace(option.name, option.value);
    std::vector<std::string> values;
    std::string_view rest = option.value;
    for (bool more = true; more;) {
      const size_t comma = rest.find(',');
      const std::string_view value = Trim(rest.substr(0, comma));
      values.push_back(IsNumber(value) ? std::string(value) : YamlText(value));
      more = comma != rest.npos;
      if (more) rest = rest.substr(comma + 1);
    }
    return {fmt::format("{{space: choice, categories: [{}]}}", fmt::join(values, ", ")),
            ""};
  }

  static std::string VariableOf(std::string_view name) {
    std::string variable;
    for (const char c : name) {
      variable += IsLetter(c) || IsDigit(c)
                      ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                      : '_';
    }
    return variable;
  }

  void KeepOption(const std::optional<Option>& option, size_t at, size_t step) {
    if (option && IsLength(option->name) && IsNumber(option->value)) {
      length_ = option->value;
    }
    const bool writes =
        option && !option->value.empty() && IsOutputFolder(option->name);
    for (size_t i = at; i < at + step; ++i) {
      const bool is_value = i + 1 == at + step;
      if (writes && is_value) {
        moved_output_ = true;
        const std::string& word = init_.words[i];
        const bool joined = step == 1;
        command_.push_back((joined ? word.substr(0, word.find('=') + 1) : "") +
                           "${trial.dir}/out");
      } else {
        Keep(init_.words[i]);
      }
    }
  }

  void Keep(const std::string& word) {
    const size_t equals = word.find('=');
    const bool has_value = equals != word.npos && equals + 1 < word.size();
    const std::string head = has_value ? word.substr(0, equals + 1) : "";
    const std::string tail = word.substr(head.size());
    const std::string path = init_.path_from_file(tail);
    std::string kept = path.empty() ? Literal(tail) : "${config.dir}/" + Literal(path);
    command_.push_back(Literal(head) + kept);
  }

  static std::string Literal(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i).starts_with("${")) out += '$';
      out += text[i];
    }
    return out;
  }

  const InitWords& init_;
  std::vector<std::string> command_;
  std::vector<Found> found_;
  std::set<std::string> names_;
  std::set<std::string> repeated_;  // options of which only the last stays
  std::string length_;
  bool hydra_ = false, equals_ = false, flags_ = false, no_flags_ = false;
  bool has_dash_ = false, has_underscore_ = false, any_long_ = false;
  bool any_args_ = false, moved_output_ = false;
};

constexpr std::string_view kHowToReport =
    R"(# How a trial says how good it is: after each epoch one JSON line in the file that
# $HYPEROPT_REPORT names. In Python:
#   if "HYPEROPT_REPORT" in os.environ:
#       with open(os.environ["HYPEROPT_REPORT"], "a") as file:
#           file.write(json.dumps({"step": epoch, "loss": loss}) + "\n")
# Or the script stays as it is, and its output is read. Of lines like
# "epoch 3 loss 0.41" (the first group of each expression is the number):
# read: {output: {step: 'epoch (\d+)', loss: 'loss (\S+)'}}
# of printed dicts like {'loss': 0.41, 'epoch': 3}:
# read: {output: dicts}
# of a table that it writes below ${trial.dir} (or jsonl, tensorboard):
# read: {csv: "**/metrics.csv"}
)";

std::string CommandText(const Draft& draft) {
  std::vector<std::string> words;
  for (const std::string& word : draft.command()) words.push_back(YamlText(word));
  std::string text = fmt::format("command: [{}]\n", fmt::join(words, ", "));
  if (draft.any_args()) {
    text += fmt::format("# {} is the parameters below, written as yours were.\n",
                        draft.ArgsWord());
  }
  for (const std::string& name : draft.repeated()) {
    text += fmt::format(
        "# {} came more than once: the last is searched, the others are left out.\n",
        YamlText(name));
  }
  if (draft.moved_output()) {
    text +=
        "# ${trial.dir} is a folder of each trial's own: several run at the same "
        "time.\n";
  }
  return text;
}

std::string ParametersText(const Draft& draft) {
  std::string text;
  for (const Found& found : draft.found()) {
    std::string space = found.guess.space;
    const bool names_arg =
        !found.arg.empty() && (found.arg != "null" || draft.any_args());
    if (names_arg) {
      const std::string arg = found.arg == "null" ? "null" : YamlText(found.arg);
      space.insert(space.size() - 1, fmt::format(", arg: {}", arg));
    }
    const std::string comment =
        found.guess.comment.empty() ? "" : "  # " + found.guess.comment;
    text += fmt::format("    {}: {}{}\n", YamlText(found.name), space, comment);
  }
  return text;
}

}  // namespace

std::string SearchFileForWords(const InitWords& init) {
  if (init.words.empty()) {
    throw ConfigError(
        "name the program after --: hyperopt init -- python train.py --lr 1e-3; or a "
        "table: hyperopt init --dataset d.csv --target y");
  }
  Draft draft(init);
  draft.Read();
  draft.RenameGroups();
  if (draft.found().empty()) {
    throw ConfigError(
        "these words have no option whose value could be searched: write each as you "
        "would type it, with a value to start from, as in hyperopt init -- python "
        "train.py --lr 1e-3 --layers 3");
  }
  std::vector<std::string> typed;
  for (const std::string& word : init.words) typed.push_back(QuoteShellWord(word));
  std::string line = fmt::format("{}", fmt::join(typed, " "));
  std::ranges::replace(line, '\n', ' ');
  std::string text = fmt::format(
      "# From: hyperopt init -- {}\n"
      "# Ranges are first guesses: look at each. Then\n"
      "#   hyperopt check {}       says what would run, and runs nothing\n"
      "#   hyperopt --config {}    runs it; Ctrl-C, and the same line goes on\n\n",
      line,
      init.file,
      init.file);
  text += CommandText(draft) + "\n";
  text += kHowToReport;
  text +=
      "\nhyperopt:\n"
      "  metric: loss      # the field of those lines that decides\n"
      "  goal: minimize    # or maximize\n"
      "  parameters:\n";
  text += ParametersText(draft);
  const std::string length = draft.length().empty() ? "27" : draft.length();
  text += fmt::format(
      "  executor:\n"
      "    num_samples: 30\n"
      "    # gpu_resources_per_trial: 0.5    # two trials on each GPU\n"
      "    # max_concurrent_trials: 2\n"
      "    # Stop weak trials early; max_t is the number of reports of a whole run:\n"
      "    # scheduler: {{type: asha, max_t: {}, grace_period: 1, reduction_factor: "
      "3}}\n",
      length);
  return text;
}

}  // namespace hyperopt::internal
