// What one trial needs: hyperopt.executor's amounts, which are the trial's total, and
// Ludwig's `backend`, whose amounts are a rank's.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kMostRanks = 65536;
constexpr double kMostShare = 1e6;

// `backend`, as far as it says what a trial needs.
struct Backend {
  std::optional<int64_t> num_workers;
  std::optional<bool> use_gpu;
  std::optional<Share> cpu_of_rank;
  std::optional<Share> gpu_of_rank;
};

std::optional<Share> ReadShare(Section& section, std::string_view key) {
  const auto number = section.Number(key, 0, kMostShare);
  if (!number) return std::nullopt;
  const Share share = Share::Of(*number);
  if (*number > 0 && share.micro() == 0) {
    section.Fail(key, "is less than a millionth");
    return std::nullopt;
  }
  return share;
}

void ReadStrategy(Section& trainer) {
  const Value* strategy = trainer.Take("strategy");
  if (strategy == nullptr) return;
  const Value* type = strategy->is_map() ? strategy->Find("type") : strategy;
  const std::string name = type == nullptr ? "" : type->text;
  if (name == "ddp" || name == "local") return;
  trainer.Fail("strategy",
               fmt::format("{} is not available in this version; use ddp",
                           name.empty() ? Describe(*strategy) : name));
}

Backend ReadBackend(Section& top, Reading& reading) {
  Backend out;
  const Value* value = top.Take("backend");
  if (reading.has_command) {
    if (value != nullptr) {
      reading.problems.Note(
          "backend is passed on unread with `command`; `ranks:` says how many "
          "processes "
          "a trial has");
    }
    return out;
  }
  Value as_map;
  if (value != nullptr && value->is_string()) {  // backend: local
    as_map.kind = Value::Kind::kMap;
    as_map.place = value->place;
    as_map.entries.push_back({"type", value->place, *value});
    value = &as_map;
  }
  Section backend(value, "backend", reading.problems);
  const auto type = backend.Choice("type", {"local", "ray"});
  if (type == "ray") {
    reading.problems.Note(
        "backend.type: ray is read as local: a trial's ranks are placed by hyperopt");
  }
  for (const char* key : {"cache_dir",
                          "cache_credentials",
                          "credentials",
                          "processor",
                          "loader",
                          "preprocessor_kwargs",
                          "max_retries",
                          "logdir",
                          "nics"}) {
    if (!backend.Has(key)) continue;
    reading.problems.Note(fmt::format("backend.{} has no use here", key));
  }
  Section trainer(backend.Take("trainer"), "backend.trainer", reading.problems);
  ReadStrategy(trainer);
  out.num_workers = trainer.Int("num_workers", 1, kMostRanks);
  out.use_gpu = trainer.Bool("use_gpu");
  Section rank(trainer.Take("resources_per_worker"),
               "backend.trainer.resources_per_worker",
               reading.problems);
  out.cpu_of_rank = ReadShare(rank, "CPU");
  out.gpu_of_rank = ReadShare(rank, "GPU");
  rank.Finish();
  trainer.Finish();
  backend.Finish();
  return out;
}

// A total given in two places must be the same in both.
std::optional<Share> Total(Section& executor,
                           std::string_view key,
                           std::optional<Share> total,
                           std::optional<Share> of_rank,
                           std::string_view rank_key,
                           int64_t ranks) {
  if (!of_rank) return total;
  const Share together = *of_rank * ranks;
  if (total && *total != together) {
    executor.Fail(
        key,
        fmt::format("is {}, and backend.trainer.num_workers ({}) times "
                    "resources_per_worker.{} ({}) is {}; both are the trial's "
                    "total, so keep one",
                    total->ToText(),
                    ranks,
                    rank_key,
                    of_rank->ToText(),
                    together.ToText()));
  }
  return together;
}

// The devices of one rank. nullopt where the total can not be shared out, which is
// told.
std::optional<Share> GpuOfRank(Section& executor, Share total, int64_t ranks) {
  const int64_t micro = total.micro();
  if (ranks == 1) {
    if (micro <= Share::kWhole || micro % Share::kWhole == 0) return total;
    executor.Fail("gpu_resources_per_trial",
                  fmt::format("must be whole devices, or a part of one device, not {}",
                              total.ToText()));
    return std::nullopt;
  }
  if (micro % (ranks * Share::kWhole) == 0) return Share::Micro(micro / ranks);
  executor.Fail(
      "gpu_resources_per_trial",
      fmt::format("{} GPUs can not be shared out to {} ranks: each takes whole "
                  "devices, so a multiple of {} is needed (or 0)",
                  total.ToText(),
                  ranks,
                  ranks));
  return std::nullopt;
}

int64_t ReadRanks(Section& top, const Backend& backend, Reading& reading) {
  if (reading.has_command) return top.Int("ranks", 1, kMostRanks).value_or(1);
  top.Refuse(
      "ranks",
      "goes with `command`; the built-in trainer's is backend.trainer.num_workers");
  return backend.num_workers.value_or(1);
}

// use_gpu beside the amounts.
std::optional<Share> SettleUseGpu(Section& executor,
                                  const Backend& backend,
                                  std::optional<Share> gpus,
                                  int64_t ranks) {
  if (!backend.use_gpu) return gpus;
  const bool wants = gpus && gpus->micro() > 0;
  if (gpus && wants != *backend.use_gpu) {
    executor.Fail("gpu_resources_per_trial",
                  fmt::format("{} GPUs a trial contradict backend.trainer.use_gpu: {}",
                              gpus->ToText(),
                              *backend.use_gpu));
  }
  if (gpus) return gpus;
  return *backend.use_gpu ? Share::Whole(ranks) : Share();
}

void CheckSomethingLimits(Section& executor, const ExecutorOptions& options) {
  const ResourceRequest& need = options.resources;
  const bool free = need.cpus.micro() == 0 && need.memory == 0 &&
                    need.gpu_per_rank.micro() == 0 && options.gpus_given &&
                    !options.max_concurrent_trials;
  if (free) {
    executor.Fail("cpu_resources_per_trial",
                  "a trial that needs nothing has no limit on how many run at a time; "
                  "give max_concurrent_trials");
  }
}

}  // namespace

void ReadResources(Section& executor, Section& top, Reading& reading) {
  ExecutorOptions& options = reading.config.executor;
  ResourceRequest& need = options.resources;
  const Backend backend = ReadBackend(top, reading);
  int64_t ranks = ReadRanks(top, backend, reading);
  const auto cpus = ReadShare(executor, "cpu_resources_per_trial");
  auto gpus = ReadShare(executor, "gpu_resources_per_trial");
  // Ludwig's trainer runs one worker a GPU where nothing else is said.
  const bool spreads = !reading.has_command && !backend.num_workers &&
                       !backend.gpu_of_rank && gpus && *gpus > Share::Whole(1) &&
                       gpus->micro() % Share::kWhole == 0;
  if (spreads) {
    ranks = std::min(gpus->micro() / Share::kWhole, kMostRanks);
    reading.problems.Note(fmt::format(
        "hyperopt.executor.gpu_resources_per_trial: {} ranks a trial, one a GPU "
        "(backend.trainer.num_workers is absent)",
        ranks));
  }
  gpus = Total(
      executor, "gpu_resources_per_trial", gpus, backend.gpu_of_rank, "GPU", ranks);
  gpus = SettleUseGpu(executor, backend, gpus, ranks);
  need.ranks = static_cast<int>(ranks);
  need.cpus =
      Total(
          executor, "cpu_resources_per_trial", cpus, backend.cpu_of_rank, "CPU", ranks)
          .value_or(Share::Whole(ranks));
  options.gpus_given = gpus.has_value();
  if (gpus) {
    need.gpu_per_rank = GpuOfRank(executor, *gpus, ranks).value_or(Share());
    need.hide_gpus = gpus->micro() == 0;
  }
  need.memory = executor.Size("memory_per_trial", 1).value_or(0);
  need.gpu_memory = executor.Size("gpu_memory_per_trial", 1).value_or(0);
  if (need.gpu_memory > 0 && need.hide_gpus) {
    executor.Fail(
        "gpu_memory_per_trial",
        "a trial that is given no GPU needs none of its memory; leave it out");
  }
  // A trial that was not told how many CPUs it may use is not tied to one.
  reading.config.around.pin_cpus =
      executor.Bool("pin_cpus").value_or(cpus || backend.cpu_of_rank);
  CheckSomethingLimits(executor, options);
}

}  // namespace hyperopt::internal
