// hyperopt.executor, its scheduler, hyperopt.search_alg, and resources.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;

std::string Executor(const std::string& keys) {
  return CommandFile("  executor: {" + keys + "}\n");
}
std::string Scheduler(const std::string& keys) {
  return Executor("scheduler: {" + keys + "}");
}
std::string Alg(const std::string& keys) {
  return CommandFile("  search_alg: {" + keys + "}\n");
}
// The file of a Ludwig user with a backend.
std::string Backend(const std::string& backend, const std::string& executor = "") {
  return LudwigFile("  executor: {" + executor + "}\n", "backend: " + backend + "\n");
}

TEST_SUITE_BEGIN("config executor");

TEST_CASE("limits and times") {
  const ExecutorOptions options =
      Parse(Executor("num_samples: 7, time_budget_s: 1.5, max_concurrent_trials: 3, "
                     "max_seconds_per_trial: 60, max_lost: 4, max_initial_failures: 0, "
                     "stop_grace_s: 0, heartbeat_s: 1, controller_lost_s: 20, "
                     "reassign_after_s: 100, store_wait_s: 5, stuck_s: 9, "
                     "stop_signal: SIGUSR1, log_limit: 1MiB"))
          .executor;
  CHECK(options.num_samples == 7);
  CHECK(options.time_budget_s == 1.5);
  CHECK(options.max_concurrent_trials == 3);
  CHECK(options.trial_wall_s == 60);
  CHECK(options.max_lost == 4);
  CHECK(options.max_initial_failures == 0);
  CHECK(options.stop_grace_s == 0);
  CHECK(options.heartbeat_s == 1);
  CHECK(options.controller_lost_s == 20);
  CHECK(options.reassign_after_s == 100);
  CHECK(options.store_wait_s == 5);
  CHECK(options.stuck_s == 9);
  CHECK(options.stop_signal == 10);
  CHECK(options.log_limit == 1 << 20);
  CHECK_FALSE(Parse(Executor("max_concurrent_trials: auto, time_budget_s: null"))
                  .executor.max_concurrent_trials.has_value());
  CHECK(Parse(Executor("stop_signal: 2")).executor.stop_signal == 2);
}

TEST_CASE("a number of failures is for both kinds, a map tells them apart") {
  const ExecutorOptions both = Parse(Executor("max_failures: 3")).executor;
  CHECK(both.max_failures_exit == 3);
  CHECK(both.max_failures_crash == 3);
  const ExecutorOptions one = Parse(Executor("max_failures: {crash: 5}")).executor;
  CHECK(one.max_failures_exit == 0);
  CHECK(one.max_failures_crash == 5);
  CHECK(Contains(Errors(Executor("max_failures: {oom: 5}")),
                 "max_failures.oom: unknown"));
}

TEST_CASE("wrong values of the executor, each in its own words") {
  for (const char* keys : {"num_samples: 0",
                           "num_samples: 1.5",
                           "num_samples: true",
                           "num_samples: .inf",
                           "time_budget_s: 0",
                           "time_budget_s: .inf",
                           "time_budget_s: soon",
                           "max_concurrent_trials: 0",
                           "max_concurrent_trials: many",
                           "max_failures: -1",
                           "stop_grace_s: -1",
                           "stop_signal: KILL",
                           "stop_signal: 9",
                           "stop_signal: 0",
                           "log_limit: 1",
                           "memory_per_trial: lots",
                           "memory_per_trial: 0",
                           "cpu_resources_per_trial: -1",
                           "cpu_resources_per_trial: 1e-9",
                           "gpu_resources_per_trial: .nan",
                           "gpu_resources_per_trial: 1.5",
                           "controller_lost_s: 3",
                           "stuck_s: 1",
                           "type: banana"}) {
    CAPTURE(std::string(keys));
    const std::string key(keys, std::string(keys).find(':'));
    CHECK(Contains(Errors(Executor(keys)), "hyperopt.executor." + key + ": "));
  }
}

TEST_CASE("what Ludwig's executor has and none is needed for here") {
  const SearchConfig config =
      Parse(Executor("type: ray, trial_driver_resources: {CPU: 1, GPU: 0}, "
                     "kubernetes_namespace: ray"));
  CHECK(Has(config.notes, "executor.kubernetes_namespace has no use here"));
  CHECK(Has(config.notes, "executor.trial_driver_resources has no use here"));
  CHECK(Contains(Errors(Executor("gpu_memory_limit: 0.5")), "unknown key"));
}

TEST_CASE("ASHA under all its names") {
  for (const char* type : {"asha", "async_hyperband", "asynchyperband"}) {
    const SearchConfig config = Parse(Scheduler("type: " + std::string(type)));
    CHECK(config.scheduler ==
          SchedulerOptions{SchedulerKind::kAsha, "training_iteration", 100, 1, 4, 1});
  }
  const SearchConfig config = Parse(
      Scheduler("type: asha, time_attr: time_total_s, max_t: 7200.0, grace_period: "
                "72, reduction_factor: 5, brackets: 2, stop_last_trials: true"));
  CHECK(config.scheduler ==
        SchedulerOptions{SchedulerKind::kAsha, "time_total_s", 7200, 72, 5, 2});
}

TEST_CASE("what a scheduler can not be") {
  CHECK(Contains(Errors(Scheduler("type: asha, grace_period: 200")),
                 "beyond max_t (100)"));
  CHECK(Contains(Errors(Scheduler("type: asha, grace_period: 0")), "of at least 1"));
  CHECK(
      Contains(Errors(Scheduler("type: asha, reduction_factor: 1")), "of at least 2"));
  CHECK(Contains(Errors(Scheduler("type: asha, reduction_factor: 2.5")),
                 "a whole number"));
  CHECK(
      Contains(Errors(Scheduler("type: asha, max_t: 10, brackets: 3")), "only 2 fit"));
  CHECK(Contains(Errors(Scheduler("type: asha, mode: min")), "hyperopt.goal"));
  CHECK(Contains(Errors(Scheduler("type: asha, metric: loss")), "hyperopt.metric"));
  CHECK(Contains(Errors(Scheduler("type: asha, grace: 1")),
                 "did you mean grace_period?"));
  CHECK(Contains(Errors(Scheduler("max_t: 10")), "has no effect with type fifo"));
  CHECK(Contains(Errors(Scheduler("type: ahsa")), "did you mean asha?"));
  CHECK(Contains(Errors(Executor("scheduler: asha")), "must be a map: {type: asha}"));
  for (const char* type : {"pb2", "pbt_replay", "resource_changing"}) {
    CHECK(Contains(Errors(Scheduler("type: " + std::string(type) + ", anything: 1")),
                   std::string(type) + " is not available in this version; use asha"));
  }
  CHECK(Contains(Errors(LudwigFile("  executor: {scheduler: {type: asha, time_attr: "
                                   "mean_loss}}\n")),
                 "the built-in trainer never reports mean_loss"));
}

TEST_CASE("search algorithms: ours, Ludwig's read as ours, others refused by name") {
  CHECK(Parse(Alg("type: variant_generator")).sampler.kind == SamplerKind::kRandom);
  CHECK(Contains(Errors(Alg("type: grid")),
                 "grid needs a finite space, and lr has none"));
  const SearchConfig grid = Parse(
      "command: [run]\nhyperopt: {metric: loss, search_alg: {type: grid}, "
      "parameters: {a: {space: int, lower: 1, upper: 3}}}\n");
  CHECK(grid.sampler.kind == SamplerKind::kGrid);
  CHECK(grid.executor.num_samples == 1);
  for (const auto& [type, kind] : {std::pair("tpe", SamplerKind::kTpe),
                                   std::pair("gp", SamplerKind::kGp),
                                   std::pair("bayesian", SamplerKind::kGp),
                                   std::pair("sobol", SamplerKind::kSobol),
                                   std::pair("auto", SamplerKind::kAuto)}) {
    CHECK(Parse(Alg("type: " + std::string(type))).sampler.kind == kind);
  }
  for (const auto& [type, kind] : {std::pair("optuna", SamplerKind::kTpe),
                                   std::pair("hyperopt", SamplerKind::kTpe),
                                   std::pair("bohb", SamplerKind::kTpe),
                                   std::pair("bayesopt", SamplerKind::kGp),
                                   std::pair("hebo", SamplerKind::kGp),
                                   std::pair("skopt", SamplerKind::kGp),
                                   std::pair("ax", SamplerKind::kGp)}) {
    const SearchConfig config =
        Parse(Alg("type: " + std::string(type) + ", n_initial_points: 3"));
    CHECK(config.sampler.kind == kind);
    CHECK(Has(config.notes, std::string(type) + " is read as "));
    CHECK(Has(config.notes, "search_alg.n_initial_points has no use here"));
  }
  CHECK(Contains(Errors(Alg("type: tpe, n_initial_points: 3")), "n_initial_points"));
  for (const char* type : {"cfo", "nevergrad", "zoopt"}) {
    CHECK(Errors(Alg("type: " + std::string(type) + ", anything: 3")) ==
          "search.yaml:5:22: hyperopt.search_alg.type: " + std::string(type) +
              " is not available in this version; use auto, gp, tpe, random or grid\n");
  }
  CHECK(Contains(Errors(Alg("type: randm")), "did you mean random?"));
}

TEST_CASE(
    "without a type a command has auto, but for a grid; Ludwig's file has random") {
  CHECK(Parse(CommandFile("")).sampler.kind == SamplerKind::kAuto);
  CHECK(Parse(CommandFile("  goal: maximize\n")).sampler.goal == Goal::kMaximize);
  CHECK(Parse(LudwigFile("")).sampler.kind == SamplerKind::kRandom);
  const std::string grid =
      "command: [run]\nhyperopt:\n  metric: loss\n"
      "  parameters: {a: {space: grid_search, values: [1, 2]}}\n";
  CHECK(Parse(grid).sampler.kind == SamplerKind::kRandom);
  CHECK(Parse(grid + "  search_alg: {type: auto}\n").sampler.kind ==
        SamplerKind::kRandom);
  const SearchConfig tpe = Parse(grid +
                                 "  search_alg: {type: tpe}\n"
                                 "  executor: {num_samples: 2}\n");
  CHECK(tpe.sampler.kind == SamplerKind::kTpe);
  CHECK(tpe.executor.num_samples == 2);
}

TEST_CASE("one seed, under any of its names") {
  for (const char* key : {"random_state", "seed", "random_state_seed"}) {
    CHECK(Parse(Alg(std::string(key) + ": 9")).sampler.seed == 9);
    CHECK_FALSE(Errors(Alg(std::string(key) + ": -9")).empty());
  }
  CHECK(Contains(Errors(Alg("seed: 1, random_state: 2")),
                 "another seed than random_state"));
  CHECK(Errors(Alg("seed: 1, random_state: 1")).empty());
  CHECK(Parse(Alg("seed: null")).sampler.seed == 42);
}

TEST_CASE("the limit of Ludwig's random search is the one gate") {
  CHECK(Parse(Alg("max_concurrent: 3")).executor.max_concurrent_trials == 3);
  CHECK_FALSE(
      Parse(Alg("max_concurrent: 0")).executor.max_concurrent_trials.has_value());
  CHECK(Contains(Errors(CommandFile("  search_alg: {max_concurrent: 3}\n"
                                    "  executor: {max_concurrent_trials: 4}\n")),
                 "is 3, and hyperopt.executor.max_concurrent_trials is 4"));
}

TEST_CASE("points_to_evaluate are checked against the space, each with its place") {
  const SearchConfig config =
      Parse(Alg("points_to_evaluate: [{lr: 1}, {lr: 0.25}, {}]"));
  CHECK(config.sampler.points_to_evaluate ==
        std::vector<Params>{{{"lr", 1.0}}, {{"lr", 0.25}}, {}});
  CHECK(Contains(
      Errors(Alg("points_to_evaluate: [{lr: 2}]")),
      "search.yaml:5:42: hyperopt.search_alg.points_to_evaluate.0.lr: 2 is not "
      "in its space"));
  CHECK(Contains(Errors(Alg("points_to_evaluate: [{lrr: 1}]")), "did you mean lr?"));
  CHECK(Contains(Errors(Alg("points_to_evaluate: [{lr: a}]")),
                 "the string \"a\" is not"));
  CHECK(Contains(Errors(Alg("points_to_evaluate: [3]")), "must be a map of parameter"));
  CHECK(Contains(Errors(Alg("points_to_evaluate: {lr: 1}")), "must be a list of maps"));
  CHECK(Contains(Errors(CommandFile("  search_alg: {points_to_evaluate: [{}, {}]}\n"
                                    "  executor: {num_samples: 1}\n")),
                 "has 2 points, more than the 1 of num_samples"));
}

TEST_CASE("points with a reward are known and not run") {
  const std::string text =
      "type: tpe, points_to_evaluate: [{lr: 1}, {lr: 0.25}], evaluated_rewards: ";
  const SearchConfig config = Parse(Alg(text + "[null, 3]"));
  CHECK(config.sampler.points_to_evaluate == std::vector<Params>{{{"lr", 1.0}}});
  REQUIRE(config.sampler.known.size() == 1);
  CHECK(config.sampler.known[0].params == Params{{"lr", 0.25}});
  CHECK(config.sampler.known[0].objective == Objective::Of(3));
  CHECK(config.sampler.known[0].state == TrialState::kCompleted);
  // What is written back reads as the same.
  const SearchConfig again = Parse(ResolvedJson(config));
  CHECK(again.sampler.points_to_evaluate == config.sampler.points_to_evaluate);
  REQUIRE(again.sampler.known.size() == 1);
  CHECK(again.sampler.known[0].params == config.sampler.known[0].params);
  CHECK(ResolvedJson(again) == ResolvedJson(config));

  CHECK(Contains(Errors(Alg(text + "[1]")), "must be a list of 2 numbers"));
  CHECK(Contains(Errors(Alg(text + "[1, x]")), "must be a number, or null"));
  CHECK(Contains(Errors(Alg("points_to_evaluate: [{}], evaluated_rewards: [1]")),
                 "of a point that does not name all parameters"));
  // Of a point that is wrong nothing more is said.
  for (const char* point : {"{lr: 99}", "{lr: a}", "{x: 1}", "3"}) {
    CAPTURE(std::string(point));
    const std::string said =
        Errors(Alg("type: tpe, points_to_evaluate: [" + std::string(point) +
                   ", {lr: 0.25}], evaluated_rewards: [1, 2]"));
    CHECK(Contains(said, "points_to_evaluate.0"));
    CHECK_FALSE(Contains(said, "evaluated_rewards"));
  }
  CHECK(Has(Parse(Alg("type: random, points_to_evaluate: [{lr: 1}], "
                      "evaluated_rewards: [1]"))
                .notes,
            "learns from nothing"));
}

TEST_CASE("a pure grid runs each configuration once, and says so") {
  const std::string start =
      "command: [run]\nhyperopt:\n  metric: loss\n"
      "  parameters: {a: {space: grid_search, values: [1, 2]}}\n";
  CHECK(Parse(start).executor.num_samples == 1);
  const SearchConfig twice = Parse(start + "  executor: {num_samples: 2}\n");
  CHECK(twice.executor.num_samples == 1);
  CHECK(Has(twice.notes, "each configuration runs once, not 2 times"));
  const std::string point = "  search_alg: {points_to_evaluate: [{a: 2}]}\n";
  CHECK(Parse(start + point).executor.num_samples == 2);
  CHECK(Parse(start + point + "  executor: {num_samples: 1}\n").executor.num_samples ==
        1);
  const std::string mixed =
      "command: [run]\nhyperopt:\n  metric: loss\n  executor: {num_samples: 2}\n"
      "  parameters:\n    a: {space: grid_search, values: [1, 2]}\n"
      "    b: {space: uniform, lower: 0, upper: 1}\n";
  CHECK(Parse(mixed).executor.num_samples == 2);
}

TEST_CASE("more trials than can be counted") {
  std::string text =
      "command: [run]\nhyperopt:\n  metric: loss\n  search_alg: {type: grid}\n"
      "  parameters:\n";
  for (const char* name : {"a", "b", "c", "d"}) {
    text += "    " + std::string(name) + ": {space: int, lower: 1, upper: 1000000}\n";
  }
  CHECK(Contains(Errors(text), "more than 2147483648 trials"));
}

TEST_CASE("resources of a command: totals, shared out by its ranks") {
  const auto need = [](const std::string& keys, int ranks) {
    return Parse(CommandFile("  executor: {" + keys + "}\n",
                             "ranks: " + std::to_string(ranks) + "\n"))
        .executor.resources;
  };
  CHECK(need("cpu_resources_per_trial: 0.5, gpu_resources_per_trial: 0.25", 1) ==
        ResourceRequest{1, Share::Of(0.5), Share::Of(0.25), false, 0});
  CHECK(need("gpu_resources_per_trial: 2", 1).gpu_per_rank == Share::Whole(2));
  CHECK(need("gpu_resources_per_trial: 4", 2) ==
        ResourceRequest{2, Share::Whole(2), Share::Whole(2), false, 0});
  CHECK(need("gpu_resources_per_trial: 0", 1).hide_gpus);
  CHECK(Contains(
      Errors(CommandFile("  executor: {gpu_resources_per_trial: 1}\n", "ranks: 2\n")),
      "1 GPUs can not be shared out to 2 ranks"));
  CHECK_FALSE(
      Errors(CommandFile("  executor: {gpu_resources_per_trial: 0.5}\n", "ranks: 2\n"))
          .empty());
  CHECK_FALSE(Errors(CommandFile("", "ranks: 0\n")).empty());
  CHECK(Contains(
      Errors(Executor("cpu_resources_per_trial: 0, gpu_resources_per_trial: 0")),
      "give max_concurrent_trials"));
  CHECK(Errors(Executor("cpu_resources_per_trial: 0, gpu_resources_per_trial: 0, "
                        "max_concurrent_trials: 4"))
            .empty());
}

TEST_CASE("Ludwig's backend: workers times their resources is the trial's total") {
  const SearchConfig config = Parse(
      Backend("{type: local, trainer: {strategy: ddp, num_workers: 2, use_gpu: true, "
              "resources_per_worker: {CPU: 3, GPU: 1}}}"));
  CHECK(config.executor.resources ==
        ResourceRequest{2, Share::Whole(6), Share::Whole(1), false, 0});
  CHECK(config.executor.gpus_given);
  CHECK(Parse(Backend("local")).executor.resources == ResourceRequest{});
  CHECK(Parse(Backend("{trainer: {num_workers: 3}}")).executor.resources.cpus ==
        Share::Whole(3));
  CHECK(Parse(Backend("{trainer: {use_gpu: true}}")).executor.resources.gpu_per_rank ==
        Share::Whole(1));
  CHECK(Parse(Backend("{trainer: {use_gpu: false}}")).executor.resources.hide_gpus);
  CHECK(Has(Parse(Backend("{type: ray, cache_dir: x}")).notes,
            "backend.cache_dir has no use"));
}

TEST_CASE("both given and unequal names both") {
  const std::string two =
      "{trainer: {num_workers: 2, resources_per_worker: {CPU: 3, GPU: 1}}}";
  CHECK(Contains(
      Errors(Backend(two, "cpu_resources_per_trial: 4")),
      "hyperopt.executor.cpu_resources_per_trial: is 4, and "
      "backend.trainer.num_workers (2) times resources_per_worker.CPU (3) is 6"));
  CHECK(Contains(Errors(Backend(two, "gpu_resources_per_trial: 1")),
                 "resources_per_worker.GPU (1) is 2"));
  CHECK(Errors(Backend(two, "cpu_resources_per_trial: 6, gpu_resources_per_trial: 2"))
            .empty());
  CHECK_FALSE(
      Errors(Backend("{trainer: {num_workers: 2, resources_per_worker: {GPU: 0.5}}}"))
          .empty());
  CHECK(Contains(
      Errors(Backend("{trainer: {use_gpu: false}}", "gpu_resources_per_trial: 1")),
      "contradict backend.trainer.use_gpu: false"));
  CHECK(Contains(
      Errors(Backend("{trainer: {use_gpu: true}}", "gpu_resources_per_trial: 0")),
      "contradict backend.trainer.use_gpu: true"));
}

TEST_CASE("a backend that is not there, and ranks in the wrong place") {
  CHECK(Contains(Errors(Backend("{type: horovod}")), "must be one of local, ray"));
  CHECK(Contains(Errors(Backend("{trainer: {strategy: fsdp}}")),
                 "fsdp is not available"));
  CHECK(Contains(Errors(Backend("{trainer: {strategy: {type: deepspeed}}}")),
                 "deepspeed is not"));
  CHECK(Contains(Errors(Backend("{trainer: {num_worker: 2}}")),
                 "did you mean num_workers?"));
  CHECK(Contains(Errors(Backend("{num_workers: 2}")),
                 "it belongs under backend.trainer"));
  CHECK(Contains(Errors(Backend("{trainer: {num_workers: 0}}")), "from 1 to"));
  CHECK(Contains(Errors(LudwigFile("", "ranks: 2\n")), "goes with `command`"));
  CHECK(Contains(Parse(CommandFile("", "backend: {x: 1}\n")).model, "\"backend\""));
}

TEST_CASE("several GPUs and no number of workers: one rank each, and it is said") {
  const SearchConfig config =
      Parse(LudwigFile("  executor: {gpu_resources_per_trial: 4}\n"));
  CHECK(config.executor.resources.ranks == 4);
  CHECK(config.executor.resources.gpu_per_rank == Share::Whole(1));
  CHECK(Has(config.notes, "4 ranks a trial, one a GPU"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
