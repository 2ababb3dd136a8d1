#include "executors/internal/tracker_env.h"

#include <fmt/format.h>

#include "trial/json.h"

namespace hyperopt {
namespace {

// wandb takes no longer group or name; a cut must not end within a character.
constexpr size_t kLongestName = 120;

std::string Shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end);
}

}  // namespace

void AddTracker(const SweepSpec& sweep,
                const Launch& launch,
                const std::string& dir,
                const std::function<bool(std::string_view)>& is_set,
                std::map<std::string, std::string, std::less<>>& env) {
  const auto unless_set = [&](const char* name, std::string value) {
    if (!is_set(name)) env[name] = std::move(value);
  };
  const std::string group = Shortened(sweep.name);
  const int64_t trial = launch.key.trial.value();
  const std::string name = fmt::format("{}-{}", group, trial);
  if (sweep.around.tracker == Tracker::kWandb) {
    unless_set("WANDB_RUN_GROUP", group);
    unless_set("WANDB_DIR", dir);
    env["WANDB_NAME"] = name;
    // The same in every attempt: a trial that goes on goes on in its run.
    env["WANDB_RUN_ID"] = fmt::format("{}-{}", sweep.sweep_id, trial);
    env["WANDB_RESUME"] = "allow";
  }
  if (sweep.around.tracker == Tracker::kMlflow) {
    unless_set("MLFLOW_EXPERIMENT_NAME", sweep.name);
    // MLflow gives out run ids itself and has no variable for a name: the tags of a
    // new run are read from here, and one of them is its name. Its HF callback reads
    // the other variable.
    const std::string tags = fmt::format(
        "{{\"mlflow.runName\":{},\"hyperopt.sweep\":{},\"hyperopt.sweep_id\":{},"
        "\"hyperopt.trial\":\"{}\",\"hyperopt.attempt\":\"{}\"}}",
        QuoteJson(name),
        QuoteJson(sweep.name),
        QuoteJson(sweep.sweep_id),
        trial,
        launch.key.attempt.value());
    env["MLFLOW_RUN_CONTEXT"] = tags;
    env["MLFLOW_TAGS"] = tags;
  }
}

}  // namespace hyperopt
