#include "search/internal/config/known_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trial/text.h"

namespace hyperopt::internal {
namespace {

struct Home {
  std::string_view key;
  std::string_view section;
};

constexpr std::array kHomes = {
    Home{"parameters", "hyperopt"},
    Home{"goal", "hyperopt"},
    Home{"metric", "hyperopt"},
    Home{"output_feature", "hyperopt"},
    Home{"split", "hyperopt"},
    Home{"constraints", "hyperopt"},
    Home{"objectives", "hyperopt"},
    Home{"repeats", "hyperopt"},
    Home{"search_alg", "hyperopt"},
    Home{"executor", "hyperopt"},
    Home{"points_to_evaluate", "hyperopt.search_alg"},
    Home{"evaluated_rewards", "hyperopt.search_alg"},
    Home{"warm_start", "hyperopt.search_alg"},
    Home{"constant_grid_search", "hyperopt.search_alg"},
    Home{"random_state", "hyperopt.search_alg"},
    Home{"random_state_seed", "hyperopt.search_alg"},
    Home{"num_samples", "hyperopt.executor"},
    Home{"time_budget_s", "hyperopt.executor"},
    Home{"max_concurrent_trials", "hyperopt.executor"},
    Home{"cpu_resources_per_trial", "hyperopt.executor"},
    Home{"gpu_resources_per_trial", "hyperopt.executor"},
    Home{"memory_per_trial", "hyperopt.executor"},
    Home{"gpu_memory_per_trial", "hyperopt.executor"},
    Home{"pin_cpus", "hyperopt.executor"},
    Home{"max_seconds_per_trial", "hyperopt.executor"},
    Home{"max_failures", "hyperopt.executor"},
    Home{"max_lost", "hyperopt.executor"},
    Home{"max_initial_failures", "hyperopt.executor"},
    Home{"stop_grace_s", "hyperopt.executor"},
    Home{"stop_signal", "hyperopt.executor"},
    Home{"heartbeat_s", "hyperopt.executor"},
    Home{"controller_lost_s", "hyperopt.executor"},
    Home{"reassign_after_s", "hyperopt.executor"},
    Home{"store_wait_s", "hyperopt.executor"},
    Home{"stuck_s", "hyperopt.executor"},
    Home{"log_limit", "hyperopt.executor"},
    Home{"scheduler", "hyperopt.executor"},
    Home{"max_t", "hyperopt.executor.scheduler"},
    Home{"grace_period", "hyperopt.executor.scheduler"},
    Home{"reduction_factor", "hyperopt.executor.scheduler"},
    Home{"brackets", "hyperopt.executor.scheduler"},
    Home{"time_attr", "hyperopt.executor.scheduler"},
    Home{"command", "the top level"},
    Home{"name", "the top level"},
    Home{"dataset", "the top level"},
    Home{"base_config", "the top level"},
    Home{"workdir", "the top level"},
    Home{"env", "the top level"},
    Home{"keep_env", "the top level"},
    Home{"read", "the top level"},
    Home{"hooks", "the top level"},
    Home{"loggers", "the top level"},
    Home{"keep", "the top level"},
    Home{"checkpoints", "keep"},
    Home{"logs", "keep"},
    Home{"folders", "keep"},
    Home{"setup", "the top level"},
    Home{"wrapper", "the top level"},
    Home{"container", "the top level"},
    Home{"tracker", "the top level"},
    Home{"on_best", "hooks"},
    Home{"on_end", "hooks"},
    Home{"on_stuck", "hooks"},
    Home{"ranks", "the top level"},
    Home{"backend", "the top level"},
    Home{"strategy", "backend.trainer"},
    Home{"num_workers", "backend.trainer"},
    Home{"use_gpu", "backend.trainer"},
    Home{"resources_per_worker", "backend.trainer"},
};

constexpr std::array<std::string_view, 1> kLater = {"folds"};

constexpr std::array kModelHomes = {
    Home{"learning_rate", "trainer"},
    Home{"learning_rate_scheduler", "trainer"},
    Home{"learning_rate_scaling", "trainer"},
    Home{"decay_rate", "trainer"},
    Home{"batch_size", "trainer"},
    Home{"eval_batch_size", "trainer"},
    Home{"epochs", "trainer"},
    Home{"early_stop", "trainer"},
    Home{"optimizer", "trainer"},
    Home{"regularization_lambda", "trainer"},
    Home{"regularization_type", "trainer"},
    Home{"gradient_clipping", "trainer"},
    Home{"num_fc_layers", "combiner"},
    Home{"fc_layers", "combiner"},
    Home{"output_size", "combiner"},
    Home{"dropout", "combiner"},
    Home{"activation", "combiner"},
    Home{"norm", "combiner"},
};

template <size_t N>
std::optional<std::string_view> Find(const std::array<Home, N>& homes,
                                     std::string_view key) {
  const auto found = std::ranges::find(homes, key, &Home::key);
  if (found == homes.end()) return std::nullopt;
  return found->section;
}

// The first known name that `key` is the start of, or that is the start of `key`.
std::optional<std::string> Completed(std::string_view key,
                                     std::span<const std::string> known) {
  for (const std::string& name : known) {
    const size_t shorter = std::min(name.size(), key.size());
    if (shorter >= 4 && name.substr(0, shorter) == key.substr(0, shorter)) return name;
  }
  return std::nullopt;
}

std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (letter == '_' || letter == '-') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  for (std::string& word : words) {
    if (word.size() > 2 && word.back() == 's') word.pop_back();
  }
  return words;
}

// The first known name that has all words of `key` (gpus_per_trial in
// gpu_resources_per_trial); a single word is too little to go by.
std::optional<std::string> Containing(std::string_view key,
                                      std::span<const std::string> known) {
  const std::vector<std::string> wanted = WordsOf(key);
  if (wanted.size() < 2) return std::nullopt;
  for (const std::string& name : known) {
    const std::vector<std::string> has = WordsOf(name);
    const bool all = std::ranges::all_of(wanted, [&](const std::string& word) {
      return std::ranges::find(has, word) != has.end();
    });
    if (all) return name;
  }
  return std::nullopt;
}

std::optional<std::string> Near(std::string_view key,
                                std::span<const std::string> known) {
  if (auto near = NearestName(key, known)) return near;
  if (auto near = Completed(key, known)) return near;
  return Containing(key, known);
}

// A misspelt key in a section that is not its own: only where it is long enough to be
// meant as the one it is close to.
std::optional<Home> HomeOfNear(std::string_view key) {
  if (key.size() < 8) return std::nullopt;
  std::vector<std::string> names;
  for (const Home& home : kHomes) names.emplace_back(home.key);
  auto near = NearestName(key, names);
  if (!near) near = Containing(key, names);
  if (!near) return std::nullopt;
  return *std::ranges::find(kHomes, std::string_view(*near), &Home::key);
}

}  // namespace

bool IsOfLaterVersion(std::string_view key) {
  return std::ranges::find(kLater, key) != kLater.end();
}

std::optional<std::string_view> SectionOf(std::string_view key) {
  return Find(kHomes, key);
}

std::optional<std::string_view> ModelSectionOf(std::string_view key) {
  return Find(kModelHomes, key);
}

std::string TextOfUnknownKey(std::string_view key,
                             std::string_view section,
                             std::span<const std::string> known) {
  if (IsOfLaterVersion(key)) return std::string(kLaterVersion);
  if (const auto home = SectionOf(key); home && *home != section) {
    return fmt::format("not a key of {}; it belongs under {}", section, *home);
  }
  if (const auto near = Near(key, known)) {
    return fmt::format("unknown key; did you mean {}?", *near);
  }
  if (const auto home = HomeOfNear(key)) {
    return fmt::format(
        "unknown key; did you mean {}? It belongs under {}", home->key, home->section);
  }
  return "unknown key";
}

}  // namespace hyperopt::internal
