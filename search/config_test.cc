#include "search/config.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::ErrorsOf;
using testing::Has;
using testing::Parse;

TEST_SUITE_BEGIN("config");

constexpr const char* kDesignExample = R"(
command: [python3, train.py, "${args}"]
hyperopt:
  goal: minimize
  metric: loss
  parameters:
    learning_rate: {space: loguniform, lower: 1e-5, upper: 1e-1}
    layers:        {space: int, lower: 1, upper: 6}             # both ends included
    optimizer:     {space: choice, categories: [sgd, adam]}
  search_alg: {type: random, random_state: 7}
  executor:
    num_samples: 200
    time_budget_s: 28800
    max_concurrent_trials: 8
    cpu_resources_per_trial: 2
    gpu_resources_per_trial: 0.5
    memory_per_trial: 8GiB
    scheduler: {type: asha, mode: stopping, max_t: 81, grace_period: 1, reduction_factor: 3}
)";

TEST_CASE("a whole search file") {
  const SearchConfig config = Parse(kDesignExample);
  CHECK(config.command == std::vector<std::string>{"python3", "train.py", "${args}"});
  CHECK(config.goal == Goal::kMinimize);
  CHECK(config.metric_field() == "loss");
  CHECK(config.space.Find("learning_rate")->domain ==
        Domain{FloatDomain{1e-5, 0.1, true, {}}});
  CHECK(config.space.Find("layers")->domain == Domain{IntDomain{1, 6, false, 1}});
  CHECK(config.space.Find("optimizer")->domain ==
        Domain{CategoricalDomain{{"sgd", "adam"}}});
  CHECK(config.sampler.kind == SamplerKind::kRandom);
  CHECK(config.sampler.seed == 7);
  CHECK(config.sampler.num_samples == 200);
  CHECK(config.executor.num_samples == 200);
  CHECK(config.executor.time_budget_s == 28800);
  CHECK(config.executor.max_concurrent_trials == 8);
  CHECK(config.executor.resources.cpus == Share::Whole(2));
  CHECK(config.executor.resources.gpu_per_rank == Share::Of(0.5));
  CHECK(config.executor.gpus_given);
  CHECK(config.executor.resources.memory == int64_t{8} << 30);
  CHECK(config.scheduler ==
        SchedulerOptions{SchedulerKind::kAsha, "training_iteration", 81, 1, 3, 1});
  CHECK(config.model == "{}");
  CHECK(config.notes.empty());
}

TEST_CASE("defaults") {
  const SearchConfig config = Parse(CommandFile());
  CHECK(config.executor.num_samples == 10);
  CHECK_FALSE(config.executor.time_budget_s.has_value());
  CHECK_FALSE(config.executor.max_concurrent_trials.has_value());
  CHECK_FALSE(config.executor.gpus_given);
  CHECK_FALSE(config.executor.resources.hide_gpus);
  CHECK(config.executor.resources == ResourceRequest{});
  CHECK(config.executor.max_failures_exit == 0);
  CHECK(config.executor.max_failures_crash == 1);
  CHECK(config.scheduler.kind == SchedulerKind::kFifo);
  CHECK(config.sampler.seed == 42);
  CHECK(config.value == ValueRule::kBest);
}

TEST_CASE("all errors at once, in order, each with its place and the way out") {
  const auto lines = ErrorsOf(R"(command: [run, "${lr}"]
hyperopt:
  goal: minimise
  metrc: loss
  parameters:
    lr: {space: loguniform, lower: 0, upper: 1}
    m: {space: unifrom, lower: 0, upper: 1}
  executor:
    max_concurrent: 3
    num_samples: 0
)");
  REQUIRE(lines.size() == 7);
  CHECK(lines[0].starts_with("search.yaml:3:3: hyperopt.metric: is missing"));
  CHECK(lines[1] ==
        "search.yaml:3:9: hyperopt.goal: must be one of minimize, maximize, not the "
        "string \"minimise\"; did you mean minimize?");
  CHECK(lines[2] ==
        "search.yaml:4:3: hyperopt.metrc: unknown key; did you mean metric?");
  CHECK(lines[3].starts_with("search.yaml:6:9: hyperopt.parameters.lr: lower (0"));
  CHECK(lines[4] ==
        "search.yaml:7:16: hyperopt.parameters.m.space: no space unifrom; did you mean "
        "uniform?");
  CHECK(lines[5] ==
        "search.yaml:9:5: hyperopt.executor.max_concurrent: unknown key; did you mean "
        "max_concurrent_trials?");
  CHECK(lines[6].starts_with("search.yaml:10:18: hyperopt.executor.num_samples: must"));
}

TEST_CASE("a misspelt or misplaced key of another section finds its place") {
  const auto error_of = [](const std::string& section, const std::string& key) {
    std::string text = "command: a\nhyperopt:\n  metric: loss\n";
    text += "  parameters: {x: {space: uniform, lower: 0, upper: 1}}\n";
    text += "  executor: {num_samples: 1";
    text += section == "executor" ? ", " + key + ": 1}\n" : "}\n  " + key + ": 1\n";
    return ErrorsOf(text).front();
  };
  CHECK(error_of("executor", "gpus_per_trial")
            .ends_with("unknown key; did you mean gpu_resources_per_trial?"));
  CHECK(error_of("executor", "cpu_per_trial")
            .ends_with("unknown key; did you mean cpu_resources_per_trial?"));
  CHECK(error_of("hyperopt", "max_concurent_trials")
            .ends_with("unknown key; did you mean max_concurrent_trials? It belongs "
                       "under hyperopt.executor"));
  CHECK(error_of("hyperopt", "gpus_per_trial")
            .ends_with("did you mean gpu_resources_per_trial? It belongs under "
                       "hyperopt.executor"));
  CHECK(error_of("hyperopt", "x_per_day").ends_with("x_per_day: unknown key"));
}

TEST_CASE("the errors are one exception with exit code 2") {
  try {
    Parse("a: 1");
    FAIL("it threw nothing");
  } catch (const ConfigErrors& errors) {
    CHECK(errors.code() == ExitCode::kUsage);
    CHECK(Contains(errors.what(), "search.yaml:1:1: hyperopt: the section is missing"));
    CHECK(errors.lines().size() == 2);
  }
}

TEST_CASE("a misplaced key is told where it belongs") {
  CHECK(Contains(Errors(CommandFile("  search_alg: {executor: {num_samples: 3}}\n")),
                 "hyperopt.search_alg.executor: not a key of hyperopt.search_alg; it "
                 "belongs under hyperopt"));
  CHECK(Contains(Errors(CommandFile("  num_samples: 3\n")),
                 "hyperopt.num_samples: not a key of hyperopt; it belongs under "
                 "hyperopt.executor"));
  CHECK(Contains(Errors(CommandFile("  executor: {max_t: 3}\n")),
                 "belongs under hyperopt.executor.scheduler"));
  CHECK(Contains(Errors(CommandFile("", "executor: {num_samples: 3}\n")),
                 "executor: belongs under hyperopt"));
  CHECK(Contains(Errors(CommandFile("  command: x\n")), "belongs under the top level"));
}

TEST_CASE("other top-level keys are the model's, unless they are a slip of ours") {
  const SearchConfig config =
      Parse(CommandFile("", "zeta: 1\nmodel: {b: [1, 2.0, null], a: 1e-5}\n"));
  CHECK(config.model == R"({"zeta":1,"model":{"b":[1,2.0,null],"a":1e-05}})");
  for (const char* slip : {"datasets", "workdirs", "keepenv", "rank", "nmae"}) {
    CAPTURE(std::string(slip));
    CHECK(
        Contains(Errors(CommandFile("", std::string(slip) + ": 1\n")), "did you mean"));
  }
  CHECK(Contains(Errors("comand: [run]\nhyperopt: {metric: x}\n"),
                 "search.yaml:1:1: comand: unknown key; did you mean command?"));
  for (const char* fine : {"head", "load", "seed", "optimizer", "trainer", "enw"}) {
    CAPTURE(std::string(fine));
    CHECK(Errors(CommandFile("", std::string(fine) + ": 1\n")).empty());
  }
  CHECK(Errors(CommandFile("", "datasets: 1\ndataset: null\n")).empty());
}

TEST_CASE("keys of later versions are refused by name, wherever they stand") {
  for (const char* key : {"folds"}) {
    CAPTURE(std::string(key));
    const std::string words = std::string(key) + ": not available in this version";
    CHECK(Contains(Errors(CommandFile("", std::string(key) + ": 1\n")), words));
    CHECK(Contains(Errors(CommandFile("  " + std::string(key) + ": 1\n")), words));
    CHECK(Contains(Errors(CommandFile("  executor: {" + std::string(key) + ": 1}\n")),
                   words));
  }
}

TEST_CASE("repeats: how often a promising configuration is run") {
  CHECK(Parse(CommandFile()).repeats == 1);
  CHECK(Parse(CommandFile("  repeats: 1\n")).repeats == 1);
  const SearchConfig config = Parse(CommandFile("  repeats: 3\n"));
  CHECK(config.repeats == 3);
  CHECK(Parse(ResolvedJson(config)).repeats == 3);
  CHECK(ComparedSettings(config).at("hyperopt.repeats") == "3");
  CHECK(WhatAChangeMeans("hyperopt.repeats") == OnChange::kRefused);
  // A record of before has no such setting, and is as it was.
  CHECK_FALSE(ComparedSettings(Parse(CommandFile())).contains("hyperopt.repeats"));
  for (const char* wrong : {"0", "-1", "1001", "many", "1.5"}) {
    CAPTURE(std::string(wrong));
    CHECK(Contains(Errors(CommandFile("  repeats: " + std::string(wrong) + "\n")),
                   "hyperopt.repeats: "));
  }
  const auto with = [](const std::string& words) {
    return CommandFile("  repeats: 2\n  executor: {scheduler: {" + words + "}}\n");
  };
  CHECK(Contains(Errors(with("type: pbt, max_t: 99")), "and with pbt they wait"));
  CHECK(Contains(Errors(with("type: asha, max_t: 9, mode: promotion")),
                 "and with asha's mode promotion they wait"));
  CHECK(Errors(with("type: asha, max_t: 9")).empty());
  CHECK(Contains(Errors("repeats: 3\n" + CommandFile()), "belongs under hyperopt"));
  CHECK(Contains(Errors(CommandFile("  executor: {repeats: 3}\n")),
                 "it belongs under hyperopt"));
  CHECK(Contains(
      Errors("command: [run]\nhyperopt: {repeats: 2, objectives: [{metric: a, goal: "
             "minimize}, {metric: b, goal: minimize}], parameters: {x: {space: int, "
             "lower: 1, upper: 2}}}\n"),
      "the mean of one metric"));
}

TEST_CASE("a sweep's name: given, else the stem, else the folder's") {
  const std::string text = CommandFile();
  CHECK(ParseConfig(text, "tune-lr.yaml", "/data/x").name == "tune-lr");
  for (const char* file :
       {"search.yaml", "config.yml", "model.yaml", "hyperopt.yaml"}) {
    CHECK(ParseConfig(text, file, "/data/My Sweeps/").name == "My Sweeps");
  }
  CHECK(ParseConfig(text, "search.yaml", "/").name == "search");
  CHECK(Parse(CommandFile("", "name: mine\n")).name == "mine");
  CHECK(Parse(CommandFile("", "name: 7\n")).name == "7");
  for (const char* name : {"a/b", "..", "''", "[a]", "' a'", "-rf"}) {
    CAPTURE(std::string(name));
    CHECK(Contains(Errors(CommandFile("", "name: " + std::string(name) + "\n")),
                   "search.yaml:2:7: name: must be"));
  }
}

TEST_CASE("paths of the file are of its folder, those of the command line of here") {
  CHECK(Parse(CommandFile("", "dataset: ../t.csv\n")).dataset == "/data/t.csv");
  CHECK(Parse(CommandFile("", "dataset: /t.csv\n")).dataset == "/t.csv");
  CHECK(Contains(Errors(CommandFile("", "dataset: s3://b/t.csv\n")), "not available"));
  const SearchConfig config =
      ParseConfig(CommandFile(), "search.yaml", "/data", {}, "t.csv");
  CHECK(config.dataset == std::filesystem::current_path() / "t.csv");
  CHECK(Parse(CommandFile("", "workdir: trial\n")).workdir == "trial");
  CHECK(Parse(CommandFile("", "workdir: runs\n")).workdir == "/data/sweeps/runs");
}

TEST_CASE("--set puts values in before anything is checked, and is named in errors") {
  const std::string text = CommandFile("  executor: {num_samples: wrong}\n");
  const SearchConfig config =
      Parse(text,
            {{"hyperopt.executor.num_samples", "5"},
             {"hyperopt.parameters.lr.upper", "2"},
             {"hyperopt.parameters.a.b", "{space: int, lower: 1, upper: 2}"},
             {"hyperopt.goal", "maximize"},
             {"m.list", "[1, {x: 2}]"},
             {"m.list.1.x", "3"},
             {"name", "other"}});
  CHECK(config.executor.num_samples == 5);
  CHECK(config.space.Find("lr")->domain == Domain{FloatDomain{0, 2, false, {}}});
  CHECK(config.space.Find("a.b") != nullptr);
  CHECK(config.goal == Goal::kMaximize);
  CHECK(config.model == R"({"m":{"list":[1,{"x":3}]}})");
  CHECK(config.name == "other");
  CHECK(Errors(text, {{"hyperopt.executor.num_samples", "x"}}) ==
        "--set hyperopt.executor.num_samples: must be a whole number from 1 to "
        "2147483648, not the string \"x\"\n");
  CHECK(Contains(Errors(CommandFile(), {{"hyperopt.executor.num_smaples", "1"}}),
                 "--set hyperopt.executor.num_smaples: unknown key; did you mean "
                 "num_samples?"));
}

TEST_CASE("--set that leads nowhere") {
  CHECK(Contains(Errors(CommandFile(), {{"hyperopt.metric.x", "1"}}),
                 "--set hyperopt.metric.x: nothing can be set below hyperopt.metric"));
  CHECK(Contains(Errors(CommandFile(), {{"name", "[a"}}),
                 "--set name: a map or list stands where a key"));
  for (const char* key : {"", ".", "a.", ".a", "a..b"}) {
    CAPTURE(std::string(key));
    CHECK_FALSE(Errors(CommandFile(), {{key, "1"}}).empty());
  }
  std::string deep = "a";
  for (int i = 0; i < 10000; ++i) deep += ".a";
  CHECK_FALSE(Errors(CommandFile(), {{deep, "1"}}).empty());
}

TEST_CASE("LoadConfig reads a file, and tells where there is none") {
  char pattern[] = "/tmp/hyperopt config XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern);
  const std::filesystem::path path = folder / "tune me.yaml";
  std::ofstream(path) << CommandFile("", "dataset: t.csv\n");
  const SearchConfig config = LoadConfig(path);
  CHECK(config.file == path);
  CHECK(config.name == "tune me");
  CHECK(config.dataset == folder / "t.csv");
  CHECK(config.text == CommandFile("", "dataset: t.csv\n"));
  CHECK_THROWS_WITH_AS(LoadConfig(folder / "absent.yaml"),
                       doctest::Contains("absent.yaml: there is no such file"),
                       ConfigErrors);
  CHECK_THROWS_AS(LoadConfig(folder), ConfigErrors);
  std::filesystem::remove_all(folder);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
