#include "search/commands/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "samplers/sampler.h"
#include "search/commands/check_machine.h"
#include "search/commands/text_width.h"
#include "search/format.h"
#include "search/keep.h"
#include "search/loggers.h"
#include "search/model_check.h"
#include "search/objectives.h"
#include "search/placement.h"
#include "search/run.h"
#include "search/schedule_text.h"
#include "search/warm_start.h"
#include "search/workdir.h"
#include "trial/errors.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

constexpr int64_t kShownConfigurations = 10;

void Line(const char* name, const std::string& text) {
  constexpr size_t kIndent = 12;
  const std::string line = fmt::format("{:<{}}{}", name, kIndent, Printable(text));
  std::printf("%s\n", Wrapped(line, TextWidth(), kIndent).c_str());
}

std::string Count(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}
std::string Count(Share count, const char* what) {
  return fmt::format(
      "{} {}{}", count.ToText(), what, count == Share::Whole(1) ? "" : "s");
}

// The best configuration gets all its repeats, and every one may.
std::string CountText(const SearchConfig& config, int64_t configurations) {
  if (config.repeats == 1) return Count(configurations, "trial");
  return fmt::format(
      "{} to {} trials: {}, each run once, promising ones up to {} times",
      configurations + config.repeats - 1,
      configurations * config.repeats,
      Count(configurations, "configuration"),
      config.repeats);
}

std::string TrialsText(const SearchConfig& config, int64_t trials) {
  std::string text = CountText(config, trials);
  if (config.sampler.kind == SamplerKind::kList) {
    return text + fmt::format(" of a list of {}",
                              Count(std::ssize(config.sampler.rows), "row"));
  }
  int64_t cells = 1;
  for (const Parameter& parameter : config.space.parameters()) {
    const SamplerKind kind = config.sampler.kind;
    const bool grid = kind == SamplerKind::kGrid ||
                      (kind == SamplerKind::kRandom &&
                       std::holds_alternative<GridDomain>(parameter.domain));
    if (!grid) continue;
    const auto count = Cardinality(parameter.domain);
    if (count && cells < std::numeric_limits<int32_t>::max()) cells *= *count;
  }
  const size_t points = config.sampler.points_to_evaluate.size();
  if (cells > 1) {
    text += fmt::format(
        ": {}, each {} grid cells", Count(config.sampler.num_samples, "sample"), cells);
  }
  if (points > 0) {
    const std::string first =
        points == 1 ? "the first is" : fmt::format("the first {} are", points);
    text += fmt::format("{} {} from points_to_evaluate", cells > 1 ? ";" : ":", first);
  }
  return text + fmt::format(" ({}, seed {})", SamplerText(config), config.sampler.seed);
}

// " where optimizer is sgd".
std::string WhenText(const Parameter& parameter) {
  std::vector<std::string> conditions;
  for (const Condition& condition : parameter.when) {
    std::vector<std::string> values;
    for (const ParamValue& value : condition.values) values.push_back(ToWord(value));
    conditions.push_back(
        fmt::format("{} is {}", condition.parent, fmt::join(values, " or ")));
  }
  return conditions.empty() ? ""
                            : fmt::format(", where {}", fmt::join(conditions, " and "));
}

std::string NeedText(const ResourceRequest& request) {
  std::string text = Count(request.cpus, "CPU");
  const Share gpus = request.gpu_per_rank * request.ranks;
  if (gpus.micro() > 0) text += ", " + Count(gpus, "GPU");
  if (request.memory > 0) text += ", " + SizeToText(request.memory);
  if (request.gpu_memory > 0) {
    text += fmt::format(", {} free on its GPU", SizeToText(request.gpu_memory));
  }
  text += " a trial";
  if (request.ranks > 1) text += fmt::format(", shared by {} ranks", request.ranks);
  if (request.hide_gpus) text += ", sees no GPU";
  return text;
}

std::string MachineText(const Resources& local) {
  return fmt::format("{}, {}, {}",
                     Count(local.cpus, "CPU"),
                     Count(std::ssize(local.devices), "GPU"),
                     SizeToText(local.memory));
}

std::string FitsText(const SearchConfig& config,
                     const ResourceRequest& request,
                     const Resources& local) {
  const int64_t capacity = Capacity(request, local);
  const bool endless = capacity == std::numeric_limits<int64_t>::max();
  std::string text = endless ? "any number" : fmt::format("{} at once", capacity);
  text += fmt::format(" on this machine ({})", MachineText(local));
  if (const auto limit = config.executor.max_concurrent_trials) {
    text += fmt::format("; max_concurrent_trials is {}", *limit);
  }
  return text;
}

void PrintSchedule(const SchedulerOptions& options) {
  for (const auto& [name, text] : ScheduleLines(options)) Line(name.c_str(), text);
}

void PrintConfigurations(const SearchConfig& config,
                         const Sampler& sampler,
                         int64_t trials) {
  std::vector<Table::Column> columns = {{"trial", Table::Align::kRight}};
  for (const Parameter& parameter : config.space.parameters()) {
    columns.push_back({parameter.name, Table::Align::kRight});
  }
  Table table(columns);
  for (int64_t id = 0; id < std::min(trials, kShownConfigurations); ++id) {
    const std::optional<Params> params = sampler.Suggest(TrialId(id), History{});
    if (!params) break;
    std::vector<std::string> cells = {std::to_string(id)};
    for (const Parameter& parameter : config.space.parameters()) {
      const auto value = params->find(parameter.name);
      cells.push_back(value == params->end() ? "-" : ValueText(value->second));
    }
    table.AddRow(std::move(cells));
  }
  std::printf("\n%s", table.ToText(TextWidth()).c_str());
  if (sampler.needs_history()) {
    std::printf("These are as if nothing had come back yet; results change them.\n");
  }
}

// What the trainer says of the first configuration.
void CheckFirst(const SearchConfig& config, const Sampler& sampler) {
  if (!config.command.empty()) return;
  const std::optional<Params> first = sampler.Suggest(TrialId(0), History{});
  if (!first) return;
  RequireGoodModel(config, *first);
}

}  // namespace

std::string SamplerText(const SearchConfig& config) {
  switch (config.sampler.kind) {
    case SamplerKind::kGrid:
      return "grid";
    case SamplerKind::kSobol:
      return "sobol";
    case SamplerKind::kTpe:
      return "tpe";
    case SamplerKind::kGp:
      return "gp";
    case SamplerKind::kCmaes:
      return "cmaes";
    case SamplerKind::kAuto:
      return DescribeAuto(config.space);
    default:
      return "random";
  }
}

int CheckCommand(const CheckOptions& options) {
  SearchConfig config = LoadConfig(options.config);
  const std::vector<std::string> warm = ReadWarmStart(&config);
  const std::unique_ptr<Sampler> sampler = MakeSampler(config.space, config.sampler);
  const Resources local = LocalResources(options.resources);
  ResourceRequest request = config.executor.resources;
  const bool by_default = !config.executor.gpus_given && !local.devices.empty();
  if (by_default) request.gpu_per_rank = Share::Whole(1);
  CheckFirst(config, *sampler);
  RequireWorkdir(config);
  RequireLoggers(config);
  const int64_t trials = sampler->TrialCount().value_or(config.executor.num_samples);

  Line("name", config.name + " in " + SweepDir(config, {}).string());
  Line("trials", TrialsText(config, trials));
  Line("goal", ObjectivesText(config));
  Line("needs", NeedText(request));
  Line("fits", FitsText(config, request, local));
  PrintSchedule(config.scheduler);
  Line("files", ExpectedFiles(config, trials));
  for (const LoggerEntry& entry : config.loggers) {
    Line("logs to", DescribeLogger(entry, config.name, SweepDir(config, {})));
  }
  for (const Parameter& parameter : config.space.parameters()) {
    Line("searches",
         parameter.name + ": " + Describe(parameter.domain) + WhenText(parameter));
  }
  for (const Constraint& each : config.space.constraints())
    Line("such that", each.text());
  if (by_default) {
    Line("note", "gpu_resources_per_trial is absent: 1, since there are GPUs");
  }
  for (const std::string& line : warm) Line("begins", line);
  for (const std::string& note : config.notes) Line("note", note);
  for (const std::string& line : MemoryOfDevices(config, local)) {
    Line("memory", line);
  }
  const SetupResult setup = SetupHere(config);
  if (!config.around.setup.empty() && setup.error.empty()) {
    Line("setup", SetupText(setup));
  }
  if (options.dry_run) PrintConfigurations(config, *sampler, trials);
  if (!setup.error.empty()) throw EnvironmentError(setup.error);
  if (Capacity(request, local) > 0) return 0;
  Offer offer;
  offer.name = "this machine";
  offer.total = local;
  offer.device_used.resize(local.devices.size());
  for (const std::string& why : WhyNot(request, std::span(&offer, 1))) {
    std::fprintf(stderr, "hyperopt: no trial can ever start here: %s\n", why.c_str());
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace hyperopt
