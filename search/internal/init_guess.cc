#include "search/internal/init_guess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <vector>

#include "trial/json.h"

namespace hyperopt::internal {
namespace {

using Words = std::initializer_list<std::string_view>;

// Lower case, _ for -, and of a dotted name its last part.
std::string Key(std::string_view name) {
  std::string key(name.substr(name.rfind('.') + 1));
  for (char& c : key) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

bool IsWordOf(std::string_view key, std::string_view word) {
  for (size_t at = key.find(word); at != key.npos; at = key.find(word, at + 1)) {
    const bool starts = at == 0 || key[at - 1] == '_';
    const size_t end = at + word.size();
    if (starts && (end == key.size() || key[end] == '_')) return true;
  }
  return false;
}

// One of `words` is a part of the name between underscores.
bool Has(std::string_view name, Words words) {
  const std::string key = Key(name);
  return std::ranges::any_of(
      words, [&key](std::string_view word) { return IsWordOf(key, word); });
}

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> Finite(std::string_view text) {
  const auto value = Number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// 1e-5, 0.1, 3: short, and a number for YAML 1.1 as well where it can be.
std::string Short(double value) {
  std::string text = fmt::format("{:.3g}", value);
  const size_t e = text.find("e-0");
  if (e != text.npos) text.erase(e + 2, 1);
  return text;
}

std::string Range(const char* space, double lower, double upper) {
  return fmt::format(
      "{{space: {}, lower: {}, upper: {}}}", space, Short(lower), Short(upper));
}

std::string IntRange(int64_t lower, int64_t upper, bool log = false) {
  return fmt::format(
      "{{space: int, lower: {}, upper: {}{}}}", lower, upper, log ? ", log: true" : "");
}

// value / 2^steps .. value * 2^steps.
std::string Powers(int64_t value, int steps) {
  std::vector<int64_t> values;
  for (int i = -steps; i <= steps; ++i) {
    const int64_t next = i < 0 ? value >> -i : value << i;
    const bool exact = i >= 0 || next << -i == value;
    if (next > 0 && exact) values.push_back(next);
  }
  return fmt::format("{{space: choice, categories: [{}]}}", fmt::join(values, ", "));
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

std::string IntSpace(std::string_view name, int64_t value) {
  const bool is_heads = Has(name, {"heads", "nhead"});
  if (value > 0 &&
      (is_heads || Has(name, {"batch", "batch_size", "bs", "batchsize"}))) {
    return Powers(value, is_heads ? 1 : 2);
  }
  if (Has(name, {"layers", "layer", "depth", "blocks", "stages", "degree"})) {
    return IntRange(1, std::max(2 * value, value + 2));
  }
  constexpr int64_t kSmall = 8;
  if (IsPowerOfTwo(value) && value >= kSmall) return Powers(value, 2);
  if (value >= kSmall) return IntRange(value / 4, value * 4, true);
  return value == 0 ? IntRange(0, 4)
                    : IntRange(std::max<int64_t>(1, value / 2),
                               std::max(2 * value, value + 3));
}

// Scales: what matters is the order of magnitude.
std::optional<std::string> ScaleSpace(std::string_view name, double value) {
  if (Has(name, {"lr", "lrate", "learning_rate", "eta", "lr0", "max_lr"})) {
    if (value <= 0) return std::nullopt;
    return Range(
        "loguniform", value / 100, std::min(value * 100, std::max(1.0, value)));
  }
  const bool is_penalty = Has(name,
                              {"weight_decay",
                               "wd",
                               "l1",
                               "l2",
                               "lambda",
                               "reg",
                               "alpha",
                               "decay",
                               "eps",
                               "epsilon",
                               "tol",
                               "penalty",
                               "c",
                               "lambda_l1",
                               "lambda_l2"});
  if (!is_penalty) return std::nullopt;
  return value > 0 ? Range("loguniform", value / 100, value * 100)
                   : Range("loguniform", 1e-6, 1e-2);
}

// Shares of one.
std::optional<std::string> ShareSpace(std::string_view name, double value) {
  if (value < 0 || value > 1) return std::nullopt;
  if (Has(name, {"momentum", "beta", "beta1", "beta2", "gamma", "rho", "ema"})) {
    return value >= 0.5 && value < 1 ? Range("float", 0.5, std::max(0.99, value))
                                     : Range("float", 0, 0.99);
  }
  if (Has(name, {"subsample", "colsample", "bytree", "fraction", "frac"})) {
    return Range("float", std::min(0.5, value), 1);
  }
  if (Has(name,
          {"dropout",
           "drop",
           "prob",
           "p",
           "ratio",
           "smoothing",
           "noise",
           "mixup",
           "warmup",
           "rate"})) {
    return Range("float", 0, std::max(0.5, value));
  }
  return std::nullopt;
}

std::string FloatSpace(std::string_view name, double value) {
  if (const auto scale = ScaleSpace(name, value)) return *scale;
  if (const auto share = ShareSpace(name, value)) return *share;
  if (value > 0) return Range("loguniform", value / 10, value * 10);
  return value == 0 ? Range("float", 0, 1) : Range("float", 2 * value, value / 2);
}

// What else scripts often have under this name.
std::string Others(std::string_view name, std::string_view value) {
  std::vector<std::string_view> others;
  if (Has(name, {"optimizer", "optim", "opt"})) others = {"adam", "adamw", "sgd"};
  if (Has(name, {"activation", "act"})) others = {"relu", "gelu", "silu", "tanh"};
  if (others.empty()) return "write the others beside it, or take the line out";
  std::vector<std::string> all = {std::string(value)};
  for (const std::string_view other : others) {
    if (Key(other) != Key(value)) all.emplace_back(other);
  }
  return fmt::format("perhaps [{}]", fmt::join(all, ", "));
}

bool LooksLikePath(std::string_view value) {
  if (value.find('/') != value.npos || value.starts_with('~')) return true;
  const size_t dot = value.rfind('.');
  return dot != value.npos && dot > 0 && value.size() - dot <= 8 &&
         std::isalpha(static_cast<unsigned char>(value.back())) != 0;
}

}  // namespace

bool IsLength(std::string_view name) {
  return Has(name,
             {"epochs",
              "epoch",
              "steps",
              "iterations",
              "iters",
              "num_iters",
              "rounds",
              "num_boost_round",
              "timesteps",
              "updates"});
}

bool IsOutputFolder(std::string_view name) {
  return Has(name,
             {"output_dir",
              "out_dir",
              "outdir",
              "output",
              "out",
              "save_dir",
              "savedir",
              "log_dir",
              "logdir",
              "logging_dir",
              "checkpoint_dir",
              "ckpt_dir",
              "work_dir",
              "workdir",
              "result_dir",
              "results_dir",
              "default_root_dir"});
}

bool IsBetterFixed(std::string_view name, std::string_view value) {
  if (value.empty() || value == "None" || value == "null") return true;
  if (IsLength(name) || IsOutputFolder(name)) return true;
  const auto integer = Number<int64_t>(value);
  if (integer) {
    constexpr int64_t kLargest = int64_t{1} << 40;
    return *integer < 0 || *integer > kLargest || Has(name, {"seed",
                                                             "random_state",
                                                             "workers",
                                                             "threads",
                                                             "jobs",
                                                             "gpus",
                                                             "gpu",
                                                             "devices",
                                                             "device",
                                                             "nodes",
                                                             "port",
                                                             "verbose",
                                                             "verbosity",
                                                             "log",
                                                             "every",
                                                             "interval",
                                                             "freq",
                                                             "frequency",
                                                             "patience",
                                                             "rank",
                                                             "world_size",
                                                             "classes",
                                                             "nproc_per_node",
                                                             "cv",
                                                             "folds",
                                                             "version",
                                                             "id",
                                                             "vocab_size",
                                                             "max_length",
                                                             "max_len"});
  }
  if (Finite(value)) {
    return Has(name, {"split", "test_size", "val_size", "valid_size", "timeout"});
  }
  const bool is_text_of_kind = Has(
      name, {"data",      "dataset", "path",        "dir",        "file",    "folder",
             "root",      "model",   "model_name",  "checkpoint", "ckpt",    "config",
             "cfg",       "name",    "device",      "project",    "entity",  "run",
             "tag",       "url",     "host",        "task",       "target",  "column",
             "columns",   "metric",  "experiment",  "wandb",      "log",     "logger",
             "precision", "dtype",   "accelerator", "backend",    "strategy"});
  return is_text_of_kind || LooksLikePath(value) || value.find_first_of("[{(") == 0;
}

Guess GuessSpace(std::string_view name, std::string_view value) {
  const std::string was = fmt::format("was {}", value);
  if (const auto integer = Number<int64_t>(value)) {
    const bool is_scale = ScaleSpace(name, static_cast<double>(*integer)).has_value();
    if (is_scale) return {FloatSpace(name, static_cast<double>(*integer)), was};
    return {IntSpace(name, *integer), was};
  }
  if (const auto number = Finite(value)) {
    const bool leaves_zero = *number == 0 && ScaleSpace(name, 0);
    return {FloatSpace(name, *number),
            was + (leaves_zero ? "; 0 itself is never drawn" : "")};
  }
  if (value == "true" || value == "false" || value == "True" || value == "False") {
    const bool capital = value[0] == 'T' || value[0] == 'F';
    return GuessFlag(capital ? "[\"True\", \"False\"]" : "[\"true\", \"false\"]");
  }
  return {fmt::format("{{space: choice, categories: [{}]}}", YamlText(value)),
          Others(name, value)};
}

Guess GuessFlag(std::string_view categories) {
  return {fmt::format("{{space: choice, categories: {}}}", categories), ""};
}

std::string YamlText(std::string_view text) {
  const auto plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '.' ||
                           c == '/' || c == '-' || c == '=' || c == '+');
  };
  constexpr std::array<std::string_view, 10> kMean = {
      "true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"};
  const std::string lower = Key(text);
  const bool starts =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) ||
                        text[0] == '/' || (text.size() > 2 && text.starts_with("--")) ||
                        (text.size() > 1 && text[0] == '-' &&
                         std::isalpha(static_cast<unsigned char>(text[1]))));
  const bool is_safe = starts && std::ranges::all_of(text, plain) &&
                       std::ranges::find(kMean, lower) == kMean.end();
  return is_safe ? std::string(text) : QuoteJson(text);
}

}  // namespace hyperopt::internal
