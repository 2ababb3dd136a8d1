// hyperopt.executor.scheduler: which trials are stopped early.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/read_rules.h"
#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

// As Ludwig has them.
constexpr int64_t kHyperbandMaxT = 81;
constexpr int64_t kHyperbandFactor = 3;

// What a type is read as. Hyperband is asha with all of its brackets.
enum class Form { kPlain, kHyperband, kBohb };
struct Type {
  std::string_view name;
  SchedulerKind kind;
  Form form = Form::kPlain;
};
constexpr Type kTypes[] = {
    {"fifo", SchedulerKind::kFifo},
    {"asha", SchedulerKind::kAsha},
    {"async_hyperband", SchedulerKind::kAsha},
    {"asynchyperband", SchedulerKind::kAsha},
    {"hyperband", SchedulerKind::kAsha, Form::kHyperband},
    {"hb_bohb", SchedulerKind::kAsha, Form::kBohb},
    {"bohb", SchedulerKind::kAsha, Form::kBohb},
    {"median_stopping_rule", SchedulerKind::kMedian},
    {"medianstopping_rule", SchedulerKind::kMedian},
    {"medianstoppingrule", SchedulerKind::kMedian},
    {"medianstopping", SchedulerKind::kMedian},
    {"median", SchedulerKind::kMedian},
    {"patience", SchedulerKind::kPatience},
    {"plateau", SchedulerKind::kPlateau},
    {"trial_plateau", SchedulerKind::kPlateau},
    {"target", SchedulerKind::kTarget},
    {"any", SchedulerKind::kAny},
    {"pbt", SchedulerKind::kPbt},
};
constexpr std::string_view kLaterTypes[] = {"pbt_replay", "pb2", "resource_changing"};
constexpr std::string_view kTypesText =
    "asha, hyperband, hb_bohb, median_stopping_rule, pbt, patience, plateau, target, "
    "any and fifo";

// nullptr where the type is none of this version's, which is told.
const Type* ReadType(Section& scheduler) {
  if (!scheduler.Has("type")) return &kTypes[0];
  const auto type = scheduler.Text("type");
  if (!type) return nullptr;
  const auto found = std::ranges::find(kTypes, *type, &Type::name);
  if (found != std::end(kTypes)) return found;
  if (std::ranges::find(kLaterTypes, *type) != std::end(kLaterTypes)) {
    scheduler.Fail(
        "type", fmt::format("{} is {}; use asha, pbt or fifo", *type, kLaterVersion));
    return nullptr;
  }
  std::vector<std::string> known(std::begin(kLaterTypes), std::end(kLaterTypes));
  for (const Type& each : kTypes) known.emplace_back(each.name);
  const auto near = NearestName(*type, known);
  scheduler.Fail(
      "type",
      near ? fmt::format("no such type: {}; did you mean {}?", *type, *near)
           : fmt::format("no such type: {}; there are {}", *type, kTypesText));
  return nullptr;
}

// Ray's `mode` is the direction, ours the form of ASHA.
void ReadMode(Section& scheduler, SchedulerOptions* options) {
  const Value* mode = scheduler.Take("mode");
  if (mode == nullptr) return;
  if (mode->text == "min" || mode->text == "max") {
    scheduler.Fail("mode", "the direction is hyperopt.goal; leave mode out");
  } else {
    options->promotion =
        scheduler.Choice("mode", {"stopping", "promotion"}) == "promotion";
  }
}

void ReadTimeAttr(Section& scheduler,
                  const Reading& reading,
                  SchedulerOptions* options) {
  const auto time_attr = scheduler.Text("time_attr");
  if (!time_attr) return;
  options->time_attr = *time_attr;
  constexpr std::array<std::string_view, 3> kNeverReported = {
      "timesteps_total", "mean_accuracy", "mean_loss"};
  const bool unknown =
      std::ranges::find(kNeverReported, *time_attr) != kNeverReported.end();
  if (unknown && !reading.has_command) {
    scheduler.Fail("time_attr",
                   fmt::format("the built-in trainer never reports {}; use "
                               "training_iteration",
                               *time_attr));
  }
}

// How many brackets there can be: one starts at each level, the last at max_t.
int64_t MostBrackets(const SchedulerOptions& options) {
  int64_t level = options.grace_period;
  int64_t most = 1;
  while (!__builtin_mul_overflow(level, options.reduction_factor, &level) &&
         level <= options.max_t) {
    ++most;
  }
  return most;
}

// Hyperband's brackets, each of which begins where max_t divided by the factor stands.
void ReadAllBrackets(Section& scheduler,
                     const Type& type,
                     Reading& reading,
                     SchedulerOptions* options) {
  scheduler.Refuse(
      "brackets",
      fmt::format("{} has all of them; write type: asha to choose", type.name));
  options->brackets = std::min<int64_t>(MostBrackets(*options), 64);
  reading.problems.Note(
      fmt::format("{} {} is read as asha with brackets: {}, all that there are between "
                  "{} and max_t {}; each is decided as values come ({})",
                  scheduler.PathOf("type"),
                  type.name,
                  options->brackets,
                  options->grace_period,
                  options->max_t,
                  options->promotion ? "mode: promotion"
                                     : "mode: stopping, no trial waits for others"));
}

void ReadAsha(Section& scheduler,
              const Type& type,
              Reading& reading,
              SchedulerOptions* options) {
  if (type.form != Form::kPlain) {
    options->max_t = kHyperbandMaxT;
    options->reduction_factor = kHyperbandFactor;
  }
  ReadMode(scheduler, options);
  options->max_t = scheduler.Int("max_t", 1, kMostTime).value_or(options->max_t);
  options->grace_period =
      scheduler.Int("grace_period", 1, kMostTime).value_or(options->grace_period);
  options->reduction_factor = scheduler.Int("reduction_factor", 2, kMostTime)
                                  .value_or(options->reduction_factor);
  scheduler.Bool("stop_last_trials");
  if (options->grace_period > options->max_t) {
    scheduler.Fail(
        "grace_period",
        fmt::format("is {}, beyond max_t ({}): no trial would ever be stopped",
                    options->grace_period,
                    options->max_t));
    return;
  }
  if (type.form != Form::kPlain) {
    ReadAllBrackets(scheduler, type, reading, options);
    return;
  }
  options->brackets = scheduler.Int("brackets", 1, 64).value_or(options->brackets);
  const int64_t most = MostBrackets(*options);
  if (options->brackets > most) {
    scheduler.Fail(
        "brackets",
        fmt::format("is {}, and only {} fit between grace_period {} and max_t "
                    "{}",
                    options->brackets,
                    most,
                    options->grace_period,
                    options->max_t));
  }
}

void ReadOf(Section& scheduler, Reading& reading, SchedulerOptions* options);

// The built-in trainer takes its budget in epochs, and reports once an epoch.
void RefuseBudgetInSeconds(Section& scheduler,
                           const Reading& reading,
                           const SchedulerOptions& options) {
  const bool counts =
      options.time_attr == "training_iteration" || options.time_attr == "epoch";
  if (!options.pieces() || counts || reading.has_command) return;
  scheduler.Fail("time_attr",
                 fmt::format("the built-in trainer runs to a budget of epochs, not of "
                             "{}; use training_iteration",
                             options.time_attr));
}

// What only a scheduler that stops trials reads.
void RefuseForFifo(Section& scheduler) {
  for (const char* key : {"max_t",
                          "grace_period",
                          "reduction_factor",
                          "brackets",
                          "stop_last_trials",
                          "mode"}) {
    scheduler.Refuse(key, "has no effect with type fifo; write type: asha");
  }
  // Ludwig lets it stand beside fifo, where it means nothing and misleads nobody.
  scheduler.Ignore("time_attr");
}

// `time_attr` of the options is the one that holds where the section has none.
void ReadRule(Section& scheduler,
              const Type& type,
              Reading& reading,
              SchedulerOptions* options) {
  options->kind = type.kind;
  scheduler.Refuse("metric", "the metric is hyperopt.metric; leave it out");
  if (type.kind == SchedulerKind::kFifo) {
    RefuseForFifo(scheduler);
    return;
  }
  ReadTimeAttr(scheduler, reading, options);
  if (type.kind == SchedulerKind::kAsha) {
    ReadAsha(scheduler, type, reading, options);
    RefuseBudgetInSeconds(scheduler, reading, *options);
    return;
  }
  if (type.kind == SchedulerKind::kPbt) {
    ReadPbt(scheduler, reading);
    RefuseBudgetInSeconds(scheduler, reading, *options);
    return;
  }
  if (type.kind == SchedulerKind::kAny) {
    ReadOf(scheduler, reading, options);
    return;
  }
  ReadCurveRule(scheduler, type.name, reading.problems, options);
}

// The time that all rules of `any` count in: its own, else what the first of them says.
void TakeTimeAttr(const Value& rules, bool own, SchedulerOptions* options) {
  for (const Value& rule : rules.items) {
    const Value* said = own ? nullptr : rule.Find("time_attr");
    if (said == nullptr || !said->is_string() || said->text.empty()) continue;
    options->time_attr = said->text;
    return;
  }
}

void ReadOne(const Value& value,
             const std::string& path,
             Reading& reading,
             SchedulerOptions* all) {
  Section section(&value, path, reading.problems);
  const Type* type = ReadType(section);
  if (type == nullptr) return;
  if (type->kind == SchedulerKind::kAny || type->kind == SchedulerKind::kFifo ||
      type->kind == SchedulerKind::kPbt) {
    section.Fail("type",
                 fmt::format("{} is no rule to join; there are asha, hyperband, "
                             "median_stopping_rule, patience, plateau and target",
                             type->name));
    return;
  }
  SchedulerOptions rule;
  rule.time_attr = all->time_attr;
  ReadRule(section, *type, reading, &rule);
  if (rule.promotion) {
    section.Fail("mode",
                 "promotion can not be joined with other rules, since its trials wait: "
                 "write stopping");
    return;
  }
  if (rule.time_attr != all->time_attr) {
    section.Fail("time_attr",
                 fmt::format("is {}, and the rules count in {}; all count in the same "
                             "time: write it once, beside `of`",
                             rule.time_attr,
                             all->time_attr));
  }
  for (const SchedulerOptions& other : all->of) {
    const bool both =
        other.kind == SchedulerKind::kAsha && rule.kind == SchedulerKind::kAsha;
    if (!both || other.max_t == rule.max_t) continue;
    section.Fail("max_t",
                 fmt::format("is {}, and another rule has {}; a trial is complete at "
                             "one of them",
                             rule.max_t,
                             other.max_t));
  }
  section.Finish();
  all->of.push_back(std::move(rule));
}

void ReadOf(Section& scheduler, Reading& reading, SchedulerOptions* options) {
  scheduler.Refuse("grace_period", "belongs to one of the rules in `of`");
  const Value* rules = scheduler.Take("of");
  if (rules == nullptr || !rules->is_list() || rules->items.empty()) {
    scheduler.Fail("of",
                   "must be a list of rules: [{type: asha, max_t: 81}, {type: "
                   "patience, patience: 5}]");
    return;
  }
  TakeTimeAttr(*rules, scheduler.Has("time_attr"), options);
  for (size_t i = 0; i < rules->items.size(); ++i) {
    ReadOne(rules->items[i],
            fmt::format("{}.{}", scheduler.PathOf("of"), i),
            reading,
            options);
  }
}

}  // namespace

void ReadScheduler(Section& executor, Reading& reading) {
  const Value* value = executor.Take("scheduler");
  if (value != nullptr && value->is_string()) {
    executor.Fail("scheduler", fmt::format("must be a map: {{type: {}}}", value->text));
    return;
  }
  reading.has_scheduler = value != nullptr;
  Section scheduler(value, executor.PathOf("scheduler"), reading.problems);
  const Type* type = ReadType(scheduler);
  if (type == nullptr) return;
  SchedulerOptions& options = reading.config.scheduler;
  if (type->kind == SchedulerKind::kMedian) options.time_attr = "time_total_s";
  reading.wants_tpe = type->form == Form::kBohb;
  ReadRule(scheduler, *type, reading, &options);
  scheduler.Finish();
}

void UseHyperband(Reading& reading) {
  SchedulerOptions& options = reading.config.scheduler;
  options.kind = SchedulerKind::kAsha;
  options.max_t = kHyperbandMaxT;
  options.reduction_factor = kHyperbandFactor;
  options.brackets = MostBrackets(options);
  reading.problems.Note(fmt::format(
      "hyperopt.search_alg.type bohb goes with hyperband, and executor.scheduler is "
      "absent: it is asha with max_t: {}, reduction_factor: {} and all {} brackets, as "
      "Ludwig's hb_bohb; {{type: fifo}} stops no trial",
      options.max_t,
      options.reduction_factor,
      options.brackets));
}

}  // namespace hyperopt::internal
