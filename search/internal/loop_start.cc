#include "search/internal/loop_start.h"

#include <fmt/format.h>
#include <unistd.h>

#include "samplers/sampler.h"
#include "search/model_check.h"
#include "search/more_samples.h"
#include "search/placement.h"
#include "search/proposals.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"

namespace hyperopt::internal {

namespace fs = std::filesystem;

std::vector<std::string> CommandOf(const SearchConfig& config) {
  if (!config.command.empty()) return config.command;
  // The data set goes to it in its configuration, by an absolute path.
  return {TrainerCommand(config).front()};
}

ServerOptions CheckedServer(const RunOptions& options) {
  ServerOptions server;
  server.listen = options.listen;
  if (options.key_file) server.keys = ReadKeyFile(*options.key_file);
  if (!server.listen) return server;
  server.folder = PrivateTmp("listen check " + std::to_string(getpid()));
  OpenServer(server);
  fs::remove_all(server.folder);
  return server;
}

// Counts from what was planned or proposed, whichever is more, and
// stays said for later resumes.
void AddSamples(int64_t more, RecordSnapshot* record, SearchConfig* config) {
  SamplerOptions& options = config->sampler;
  const int64_t of_file = options.num_samples;
  int64_t& extra = record->sweep.extra_trials;
  options.num_samples += extra;
  if (more == 0) return;
  const auto count = [&] {
    return MakeSampler(config->space, options)->TrialCount().value_or(0);
  };
  const int64_t proposed =
      CursorAfter(CurrentEra(record->sweep), record->trials).next();
  // A list has no more than its rows.
  for (int64_t last = -1; count() < proposed && count() > last;) {
    last = count();
    ++options.num_samples;
  }
  options.num_samples = SamplesAfter(options, more);
  extra = options.num_samples - of_file;
}

void DecideGpus(const Resources& local, SearchConfig* config) {
  if (config->executor.gpus_given || local.devices.empty()) return;
  config->executor.resources.gpu_per_rank = Share::Whole(1);
  config->notes.push_back(fmt::format(
      "gpu_resources_per_trial is absent: 1, since there are {} GPUs (0 hides them)",
      local.devices.size()));
}

void RefuseWhatNeverFits(const ResourceRequest& request, const Resources& local) {
  if (Capacity(request, local) > 0) return;
  Offer offer;
  offer.name = "this machine";
  offer.total = local;
  offer.device_used.resize(local.devices.size());
  std::string text = "no trial can ever start:";
  for (const std::string& line : WhyNot(request, std::span(&offer, 1))) {
    text += "\n  " + line;
  }
  throw ConfigError(text +
                    "\nAsk for less a trial, or let executors elsewhere join with "
                    "--listen.");
}

}  // namespace hyperopt::internal
