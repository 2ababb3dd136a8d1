#include "trainer/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "trial/errors.h"

namespace hyperopt {
namespace {

class Environment {
 public:
  explicit Environment(const GetEnv& get) : get_(get) {}

  // Set and not empty.
  std::optional<std::string> Text(const char* name) const {
    const char* value = get_(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }

  template <typename Number>
  std::optional<Number> Read(const char* name, Number lower, Number upper) {
    const auto text = Text(name);
    if (!text) return std::nullopt;
    Number value{};
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), value);
    const bool whole = error == std::errc() && end == text->data() + text->size();
    if (whole && value >= lower && value <= upper) return value;
    Fail(fmt::format(
        "{}={}: must be a number from {} to {}", name, *text, lower, upper));
    return std::nullopt;
  }

  void Fail(const std::string& error) {
    errors_ += errors_.empty() ? error : "\n" + error;
  }
  const std::string& errors() const { return errors_; }

 private:
  const GetEnv& get_;
  std::string errors_;
};

RankSpec ReadRank(Environment& env) {
  RankSpec spec;
  const auto world = env.Read<int>("WORLD_SIZE", 1, 1 << 20);
  if (!world) return spec;
  spec.distributed = true;
  spec.world_size = *world;
  const auto rank = env.Read<int>("RANK", 0, *world - 1);
  if (!rank && !env.Text("RANK")) env.Fail("WORLD_SIZE is set and RANK is not");
  spec.rank = rank.value_or(0);
  spec.local_rank = env.Read<int>("LOCAL_RANK", 0, 1 << 20).value_or(spec.rank);
  spec.master_addr = env.Text("MASTER_ADDR").value_or(spec.master_addr);
  spec.master_port = env.Read<int>("MASTER_PORT", 1, 65535).value_or(spec.master_port);
  const auto seconds = env.Read<int>("HYPEROPT_JOIN_TIMEOUT_S", 1, 1 << 20);
  if (seconds) spec.join_timeout = std::chrono::seconds(*seconds);
  return spec;
}

}  // namespace

TrainerOptions OptionsFromEnvironment(const GetEnv& get) {
  Environment env(get);
  TrainerOptions options;
  options.config = env.Text("HYPEROPT_CONFIG").value_or("");
  options.report = env.Text("HYPEROPT_REPORT");
  options.checkpoints = env.Text("HYPEROPT_CHECKPOINT_DIR");
  options.resume_from = env.Text("HYPEROPT_RESUME_FROM");
  options.seed = env.Read<uint64_t>("HYPEROPT_SEED", 0, UINT64_MAX).value_or(42);
  // The budget of a search may be any number; an epoch that is only begun is not
  // reached.
  const auto budget = env.Read<double>("HYPEROPT_BUDGET", 1, 9e15);
  if (budget) options.budget = static_cast<int64_t>(std::floor(*budget));
  options.trial = env.Text("HYPEROPT_TRIAL").value_or("");
  options.rank = ReadRank(env);
  if (!env.errors().empty()) throw ConfigError(env.errors());
  return options;
}

}  // namespace hyperopt
