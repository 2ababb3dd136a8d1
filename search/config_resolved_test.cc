// What was understood, written back and compared.
#include <doctest/doctest.h>

#include <algorithm>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::LudwigFile;
using testing::Parse;

// The settings in which two files differ.
std::vector<std::string> Differences(const std::string& a, const std::string& b) {
  const auto one = ComparedSettings(Parse(a));
  const auto two = ComparedSettings(Parse(b));
  std::vector<std::string> names;
  for (const auto& [name, value] : one) {
    const auto other = two.find(name);
    if (other == two.end() || other->second != value) names.push_back(name);
  }
  for (const auto& [name, value] : two) {
    if (!one.contains(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

const std::string kFull = R"(command: [run, "${args}", --n=1]
name: full
ranks: 2
dataset: t.csv
workdir: trial
env: {A: "1", T: {from: T}}
keep_env: [SLURM_*]
read: {output: {loss: 'loss=(\S+)'}}
model: {a: [1, 2.0, null], b: {c: 1e-5}}
hyperopt:
  goal: maximize
  metric: loss
  value: last
  parameters:
    z: {space: loguniform, lower: 1e-5, upper: 1e-1, arg: lr}
    a: {space: qrandint, lower: 2, upper: 8, q: 2, arg: null}
    one: {space: randint, lower: 3, upper: 4}
    q: {space: quniform, lower: 0, upper: 1, q: 0.1}
    l: {space: qlograndint, lower: 8, upper: 64, q: 8}
    n: {space: qrandn, mean: 1, sd: 2, q: 0.1}
    r: {space: randn}
    c: {space: choice, categories: [a, 1, 1.0, true, "1", null, {a: 1}, [1, 2]]}
    g: {space: grid_search, values: [1, 2]}
  search_alg: {random_state: 7, constant_grid_search: true, points_to_evaluate: [{z: 0.01, a: 4}]}
  executor:
    num_samples: 20
    time_budget_s: 28800
    max_concurrent_trials: 8
    cpu_resources_per_trial: 0.3
    gpu_resources_per_trial: 2
    memory_per_trial: 8GiB
    max_failures: {exit: 1, crash: 2}
    max_seconds_per_trial: 60
    stop_signal: INT
    scheduler: {type: asha, max_t: 81, reduction_factor: 3}
)";

TEST_SUITE_BEGIN("config resolved");

TEST_CASE("the resolved text reads as the same search") {
  for (const std::string& text :
       {kFull,
        CommandFile(),
        LudwigFile(
            "  executor: {gpu_resources_per_trial: 2}\n  output_feature: income\n"
            "  metric: accuracy\n  goal: maximize\n")}) {
    const SearchConfig config = Parse(text);
    const std::string resolved = ResolvedJson(config);
    const SearchConfig again = ParseConfig(resolved, "search.yaml", "/elsewhere");
    CHECK(ComparedSettings(again) == ComparedSettings(config));
    CHECK(ResolvedJson(again) == resolved);
    CHECK(again.executor.resources == config.executor.resources);
    CHECK(again.scheduler == config.scheduler);
    CHECK(again.metric_field() == config.metric_field());
    CHECK(again.sampler.points_to_evaluate == config.sampler.points_to_evaluate);
    CHECK(again.arg_names == config.arg_names);
    CHECK(again.dataset == config.dataset);
    CHECK(again.env == config.env);
  }
}

TEST_CASE("a file that says the same in other words has no differences") {
  CHECK(Differences(CommandFile(), CommandFile("  executor: {num_samples: 10}\n"))
            .empty());
  CHECK(Differences(testing::WithSpace("{space: randint, lower: 1, upper: 4}"),
                    testing::WithSpace("{upper: 3.0, lower: 0x1, space: int}"))
            .empty());
}

TEST_CASE("each difference is named, with what it means") {
  const auto only = [](const std::string& a, const std::string& b) {
    const auto names = Differences(a, b);
    REQUIRE(names.size() == 1);
    return names[0];
  };
  const std::string base = CommandFile();
  const auto refused = [&](const std::string& changed, const std::string& name) {
    CHECK(only(base, changed) == name);
    CHECK(WhatAChangeMeans(name) == OnChange::kRefused);
  };
  const auto applies = [&](const std::string& changed, const std::string& name) {
    CHECK(only(base, changed) == name);
    CHECK(WhatAChangeMeans(name) == OnChange::kApplies);
  };
  refused(CommandFile("  goal: maximize\n"), "hyperopt.goal");
  refused(CommandFile("  value: last\n"), "hyperopt.value");
  refused(CommandFile("  search_alg: {seed: 1}\n"), "hyperopt.search_alg.random_state");
  refused(CommandFile("  executor: {scheduler: {type: asha}}\n"),
          "hyperopt.executor.scheduler");
  refused(CommandFile("", "dataset: x.csv\n"), "dataset");
  refused(CommandFile("", "workdir: trial\n"), "workdir");
  refused(CommandFile("", "model: 1\n"), "model.model");
  refused(CommandFile("", "read: {output: {a: b}}\n"), "read");
  applies(CommandFile("  executor: {num_samples: 11}\n"),
          "hyperopt.executor.num_samples");
  applies(CommandFile("  executor: {time_budget_s: 11}\n"),
          "hyperopt.executor.time_budget_s");
  applies(CommandFile("  executor: {max_concurrent_trials: 2}\n"),
          "hyperopt.executor.max_concurrent_trials");
  applies(CommandFile("  executor: {memory_per_trial: 1G}\n"),
          "hyperopt.executor.memory_per_trial");
  applies(CommandFile("  executor: {max_lost: 1}\n"), "hyperopt.executor.max_lost");
  applies(CommandFile("", "env: {A: 1}\n"), "env");
  CHECK(WhatAChangeMeans("command") == OnChange::kRefused);
  CHECK(WhatAChangeMeans("hyperopt.metric") == OnChange::kRefused);
  CHECK(WhatAChangeMeans("hyperopt.parameters.trainer.learning_rate") ==
        OnChange::kRefused);
  CHECK(WhatAChangeMeans("ranks") == OnChange::kApplies);
  CHECK(WhatAChangeMeans("backend") == OnChange::kApplies);
}

TEST_CASE("parameters are compared one by one, and in their order") {
  const auto with = [](const std::string& parameters) {
    return "command: [run]\nhyperopt: {metric: loss, parameters: {" + parameters +
           "}}\n";
  };
  const std::string a = "a: {space: int, lower: 1, upper: 2}";
  const std::string b = "b: {space: int, lower: 1, upper: 2}";
  CHECK(Differences(with(a + ", " + b), with(b + ", " + a)) ==
        std::vector<std::string>{"hyperopt.parameters"});
  CHECK(Differences(with(a), with("a: {space: int, lower: 1, upper: 3}")) ==
        std::vector<std::string>{"hyperopt.parameters.a"});
}

TEST_CASE("a secret that is taken from outside is recorded by name only") {
  const std::string resolved =
      ResolvedJson(Parse(CommandFile("", "env: {T: {from: HOME}}\n")));
  CHECK(Contains(resolved, "\"from\": \"HOME\""));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
