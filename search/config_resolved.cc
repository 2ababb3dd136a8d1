// A search file as it was understood, written back as JSON that reads as the same
// search.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/config.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

OrderedJson NumericToJson(const char* space, const auto& domain) {
  OrderedJson json = {
      {"space", space}, {"lower", domain.lower}, {"upper", domain.upper}};
  if (domain.log) json["log"] = true;
  return json;
}

OrderedJson ToJson(const FloatDomain& domain) {
  OrderedJson json = NumericToJson("float", domain);
  if (domain.step) json["step"] = *domain.step;
  return json;
}

// A range of one value is what randint makes of [n, n + 1).
OrderedJson ToJson(const IntDomain& domain) {
  if (domain.lower == domain.upper) {
    return {{"space", "choice"}, {"categories", {domain.lower}}};
  }
  OrderedJson json = NumericToJson("int", domain);
  if (domain.step != 1) json["step"] = domain.step;
  return json;
}

OrderedJson ToJson(const NormalDomain& domain) {
  OrderedJson json = {{"space", domain.q ? "qrandn" : "randn"},
                      {"mean", domain.mean},
                      {"sd", domain.sd}};
  if (domain.q) json["q"] = *domain.q;
  return json;
}

OrderedJson ListToJson(const std::vector<ParamValue>& values) {
  OrderedJson list = OrderedJson::array();
  for (const ParamValue& value : values) list.push_back(ParamValueToJson(value));
  return list;
}

OrderedJson ToJson(const CategoricalDomain& domain) {
  return {{"space", "choice"}, {"categories", ListToJson(domain.values)}};
}

OrderedJson ToJson(const GridDomain& domain) {
  return {{"space", "grid_search"}, {"values", ListToJson(domain.values)}};
}

OrderedJson ParametersToJson(const SearchConfig& config) {
  OrderedJson json = OrderedJson::object();
  for (const Parameter& parameter : config.space.parameters()) {
    OrderedJson entry =
        std::visit([](const auto& domain) { return ToJson(domain); }, parameter.domain);
    const auto arg = config.arg_names.find(parameter.name);
    if (arg != config.arg_names.end()) {
      entry["arg"] = arg->second ? OrderedJson(*arg->second) : OrderedJson();
    }
    for (const Condition& condition : parameter.when) {
      entry["when"][condition.parent] = ListToJson(condition.values);
    }
    json[parameter.name] = std::move(entry);
  }
  return json;
}

OrderedJson ListToJson(const std::vector<Params>& settings) {
  OrderedJson list = OrderedJson::array();
  for (const Params& each : settings) list.push_back(ParamsToJson(each));
  return list;
}

const char* TypeOf(SamplerKind kind) {
  switch (kind) {
    case SamplerKind::kRandom:
      return "random";
    case SamplerKind::kGrid:
      return "grid";
    case SamplerKind::kList:
      return "list";
    case SamplerKind::kSobol:
      return "sobol";
    case SamplerKind::kTpe:
      return "tpe";
    case SamplerKind::kCmaes:
      return "cmaes";
    case SamplerKind::kGp:
      return "gp";
    case SamplerKind::kAuto:
      return "auto";
  }
  return "";
}

// Objectives that are no number are all alike to a sampler.
OrderedJson KnownToJson(const std::vector<HistoryEntry>& known) {
  OrderedJson list = OrderedJson::array();
  for (const HistoryEntry& entry : known) {
    if (entry.trial != kWarm) continue;
    OrderedJson json = {{"params", ParamsToJson(entry.params)},
                        {"state", ToString(entry.state)}};
    if (entry.objective.finite()) json["value"] = entry.objective.value;
    if (entry.step != 0) json["step"] = entry.step;
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson SearchAlgToJson(const SearchConfig& config) {
  const SamplerOptions& sampler = config.sampler;
  OrderedJson json = {{"type", TypeOf(sampler.kind)}, {"random_state", sampler.seed}};
  if (sampler.kind == SamplerKind::kList) {
    json["rows"] = ListToJson(sampler.rows);
    return json;
  }
  if (sampler.constant_grid_search) json["constant_grid_search"] = true;
  // Read back, those with a reward are known and the others are run.
  OrderedJson points = OrderedJson::array(), rewards = OrderedJson::array();
  for (const HistoryEntry& entry : sampler.known) {
    if (entry.trial != kEvaluated) continue;
    points.push_back(ParamsToJson(entry.params));
    rewards.push_back(entry.objective.value);
  }
  const bool any_known = !rewards.empty();
  for (const Params& point : sampler.points_to_evaluate) {
    points.push_back(ParamsToJson(point));
    rewards.push_back(nullptr);
  }
  if (!points.empty()) json["points_to_evaluate"] = std::move(points);
  if (any_known) json["evaluated_rewards"] = std::move(rewards);
  for (const auto& path : config.warm_start)
    json["warm_start"].push_back(path.string());
  if (OrderedJson known = KnownToJson(sampler.known); !known.empty()) {
    json["known"] = std::move(known);
  }
  return json;
}

OrderedJson PbtToJson(const SchedulerOptions& scheduler) {
  const PbtOptions& pbt = scheduler.pbt;
  OrderedJson json = {{"type", "pbt"},
                      {"time_attr", scheduler.time_attr},
                      {"max_t", scheduler.max_t},
                      {"perturbation_interval", pbt.perturbation_interval},
                      {"burn_in_period", pbt.burn_in_period},
                      {"quantile_fraction", pbt.quantile_fraction},
                      {"resample_probability", pbt.resample_probability},
                      {"perturbation_factors", pbt.perturbation_factors}};
  if (pbt.mutations.empty()) return json;
  OrderedJson& named = json["hyperparam_mutations"] = OrderedJson::object();
  for (const std::string& name : pbt.mutations) named[name] = nullptr;
  return json;
}

OrderedJson PlateauToJson(const SchedulerOptions& rule) {
  OrderedJson json = {{"type", "plateau"},
                      {"time_attr", rule.time_attr},
                      {"grace_period", rule.grace_period},
                      {"num_results", rule.num_results},
                      {"std", rule.std}};
  if (rule.metric_threshold) json["metric_threshold"] = *rule.metric_threshold;
  return json;
}

OrderedJson RuleToJson(const SchedulerOptions& rule) {
  switch (rule.kind) {
    case SchedulerKind::kAsha:
      return {{"type", "asha"},
              {"mode", rule.promotion ? "promotion" : "stopping"},
              {"time_attr", rule.time_attr},
              {"max_t", rule.max_t},
              {"grace_period", rule.grace_period},
              {"reduction_factor", rule.reduction_factor},
              {"brackets", rule.brackets}};
    case SchedulerKind::kMedian:
      return {{"type", "median_stopping_rule"},
              {"time_attr", rule.time_attr},
              {"grace_period", rule.grace_period},
              {"min_samples_required", rule.min_samples_required}};
    case SchedulerKind::kPatience:
      return {{"type", "patience"},
              {"time_attr", rule.time_attr},
              {"grace_period", rule.grace_period},
              {"patience", rule.patience},
              {"min_delta", rule.min_delta}};
    case SchedulerKind::kPlateau:
      return PlateauToJson(rule);
    case SchedulerKind::kTarget:
      return {
          {"type", "target"}, {"time_attr", rule.time_attr}, {"value", rule.target}};
    case SchedulerKind::kPbt:
      return PbtToJson(rule);
    case SchedulerKind::kFifo:
    case SchedulerKind::kAny:
      break;
  }
  return {{"type", "fifo"}};
}

OrderedJson SchedulerToJson(const SchedulerOptions& scheduler) {
  if (scheduler.kind != SchedulerKind::kAny) return RuleToJson(scheduler);
  OrderedJson rules = OrderedJson::array();
  for (const SchedulerOptions& rule : scheduler.of) rules.push_back(RuleToJson(rule));
  return {{"type", "any"}, {"time_attr", scheduler.time_attr}, {"of", rules}};
}

OrderedJson ExecutorToJson(const ExecutorOptions& options) {
  const ResourceRequest& need = options.resources;
  OrderedJson json = {{"num_samples", options.num_samples}};
  if (options.time_budget_s) json["time_budget_s"] = *options.time_budget_s;
  if (options.max_concurrent_trials) {
    json["max_concurrent_trials"] = *options.max_concurrent_trials;
  }
  json["cpu_resources_per_trial"] = need.cpus.AsDouble();
  if (options.gpus_given) {
    json["gpu_resources_per_trial"] = (need.gpu_per_rank * need.ranks).AsDouble();
  }
  if (need.memory > 0) json["memory_per_trial"] = need.memory;
  if (need.gpu_memory > 0) json["gpu_memory_per_trial"] = need.gpu_memory;
  if (options.trial_wall_s) json["max_seconds_per_trial"] = *options.trial_wall_s;
  json["max_failures"] = {{"exit", options.max_failures_exit},
                          {"crash", options.max_failures_crash}};
  json["max_lost"] = options.max_lost;
  json["max_initial_failures"] = options.max_initial_failures;
  json["stop_grace_s"] = options.stop_grace_s;
  json["stop_signal"] = options.stop_signal;
  json["heartbeat_s"] = options.heartbeat_s;
  json["controller_lost_s"] = options.controller_lost_s;
  json["reassign_after_s"] = options.reassign_after_s;
  json["store_wait_s"] = options.store_wait_s;
  json["stuck_s"] = options.stuck_s;
  json["log_limit"] = options.log_limit;
  return json;
}

OrderedJson ObjectivesToJson(const SearchConfig& config) {
  OrderedJson list = OrderedJson::array();
  list.push_back({{"metric", config.metric}, {"goal", ToString(config.goal)}});
  for (const OtherObjective& each : config.objectives) {
    list.push_back({{"metric", each.metric}, {"goal", ToString(each.goal)}});
  }
  return list;
}

OrderedJson HyperoptToJson(const SearchConfig& config) {
  OrderedJson json;
  if (config.objectives.empty()) {
    json = {{"goal", ToString(config.goal)}, {"metric", config.metric}};
  } else {
    json["objectives"] = ObjectivesToJson(config);
  }
  if (config.command.empty()) {
    json["output_feature"] = config.output_feature;
    json["split"] = config.split;
  }
  if (config.objectives.empty()) {
    json["value"] = config.value == ValueRule::kLast ? "last" : "best";
  }
  if (config.repeats > 1) json["repeats"] = config.repeats;
  json["parameters"] = ParametersToJson(config);
  if (!config.space.constraints().empty()) {
    OrderedJson& list = json["constraints"];
    for (const Constraint& each : config.space.constraints())
      list.push_back(each.text());
  }
  json["search_alg"] = SearchAlgToJson(config);
  json["executor"] = ExecutorToJson(config.executor);
  json["executor"]["pin_cpus"] = config.around.pin_cpus;
  json["executor"]["scheduler"] = SchedulerToJson(config.scheduler);
  return json;
}

OrderedJson EnvToJson(const SearchConfig& config) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, entry] : config.env) {
    json[name] =
        entry.from_host ? OrderedJson{{"from", entry.value}} : OrderedJson(entry.value);
  }
  return json;
}

OrderedJson SourceToJson(const ReadSource& source) {
  OrderedJson json;
  OrderedJson& what = json[std::string(KeyOf(source.kind))];
  if (source.kind == ReadKind::kPatterns) {
    what = OrderedJson::object();
    for (const auto& [field, regex] : source.patterns) what[field] = regex;
  } else {
    what = source.kind == ReadKind::kDicts ? "dicts" : source.glob;
  }
  if (!source.rename.empty()) json["rename"] = source.rename;
  return json;
}

OrderedJson ReadToJson(const SearchConfig& config) {
  if (config.read.size() == 1) return SourceToJson(config.read.front());
  OrderedJson json = OrderedJson::array();
  for (const ReadSource& source : config.read) json.push_back(SourceToJson(source));
  return json;
}

// The model's keys stand in a map of their own, since they may be called as ours are.
bool IsApart(const SearchConfig& config) {
  return config.has_base_config && !config.command.empty();
}

OrderedJson HooksToJson(const Hooks& hooks) {
  OrderedJson json = OrderedJson::object();
  if (!hooks.on_best.empty()) json["on_best"] = hooks.on_best;
  if (!hooks.on_end.empty()) json["on_end"] = hooks.on_end;
  if (!hooks.on_stuck.empty()) json["on_stuck"] = hooks.on_stuck;
  return json;
}

OrderedJson LoggersToJson(const std::vector<LoggerEntry>& loggers) {
  OrderedJson list = OrderedJson::array();
  for (const LoggerEntry& entry : loggers) {
    OrderedJson json = {{"type", ToString(entry.kind)}};
    if (!entry.dir.empty()) json["dir"] = entry.dir.string();
    if (!entry.uri.empty()) json["uri"] = entry.uri;
    if (!entry.experiment.empty()) json["experiment"] = entry.experiment;
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson KeepToJson(const KeepRules& keep) {
  return {{"checkpoints",
           {{"best", keep.best_checkpoints}, {"last", keep.last_checkpoints}}},
          {"logs", ToString(keep.logs)},
          {"folders", ToString(keep.folders)}};
}

void PutSurroundings(const Surroundings& around, OrderedJson& json) {
  if (!around.setup.empty()) json["setup"] = around.setup;
  if (!around.wrapper.empty()) json["wrapper"] = around.wrapper;
  if (const Container& in = around.container; in.engine != Engine::kNone) {
    json["container"] = {{"engine", in.engine == Engine::kPodman ? "podman" : "docker"},
                         {"image", in.image}};
    if (!in.options.empty()) json["container"]["options"] = in.options;
  }
  if (around.tracker != Tracker::kNone) {
    json["tracker"] = around.tracker == Tracker::kWandb ? "wandb" : "mlflow";
  }
}

OrderedJson Resolved(const SearchConfig& config) {
  OrderedJson json = {{"name", config.name}};
  if (!config.command.empty()) json["command"] = config.command;
  if (!config.dataset.empty()) json["dataset"] = config.dataset.string();
  if (!config.workdir.empty()) json["workdir"] = config.workdir;
  if (!config.env.empty()) json["env"] = EnvToJson(config);
  if (!config.keep_env.empty()) json["keep_env"] = config.keep_env;
  if (!config.read.empty()) json["read"] = ReadToJson(config);
  if (config.hooks.any()) json["hooks"] = HooksToJson(config.hooks);
  if (!config.loggers.empty()) json["loggers"] = LoggersToJson(config.loggers);
  if (config.keep != KeepRules()) json["keep"] = KeepToJson(config.keep);
  PutSurroundings(config.around, json);
  const int ranks = config.executor.resources.ranks;
  if (!config.command.empty()) {
    if (ranks != 1) json["ranks"] = ranks;
  } else {
    json["backend"] = {{"type", "local"}, {"trainer", {{"num_workers", ranks}}}};
  }
  OrderedJson model = ParseJson(config.model);
  if (IsApart(config)) {
    json["base_config"] = std::move(model);
  } else {
    for (const auto& [key, value] : model.items()) json[key] = value;
  }
  json["hyperopt"] = HyperoptToJson(config);
  return json;
}

}  // namespace

std::string ResolvedJson(const SearchConfig& config) {
  return DumpJson(Resolved(config), 2);
}

}  // namespace hyperopt
