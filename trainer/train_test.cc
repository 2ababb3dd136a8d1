// The real program, from outside, as one process.
#include "trainer/train.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "trainer/checkpoint.h"
#include "trainer/internal/train_bench_fixture.h"

namespace hyperopt {
namespace {

using Bench = TrainBench;
using Env = TrainBench::Env;
using Json = nlohmann::ordered_json;

const std::vector<int> kOneDone = {0};

TEST_CASE("a run learns, reports every promised field each epoch, and checkpoints it") {
  Bench bench;
  bench.config["trainer"]["epochs"] = 40;
  bench.WriteFiles();
  CHECK_MESSAGE(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone, bench.Log("a"));
  const auto lines = bench.folder.Lines("a.jsonl");
  REQUIRE(lines.size() == 40);
  const Json last = Json::parse(lines.back());
  for (const std::string& field : ReportedFields(TrainBenchConfig())) {
    CHECK_MESSAGE(last.contains(field), field);
  }
  CHECK(last.size() == ReportedFields(TrainBenchConfig()).size() + 1);
  CHECK(last["step"] == 40);
  CHECK(last["validation.value.r2"].get<double>() > 0.9);
  CHECK(last["validation.flag.roc_auc"].get<double>() > 0.9);
  CHECK(last["validation.kind.accuracy"].get<double>() > 0.7);
  CHECK(last["accuracy"] == last["validation.kind.accuracy"]);
  CHECK(last["loss"] == last["validation.combined.loss"]);
  for (int step = 1; step <= 40; ++step) {
    CHECK(IsComplete(bench.folder.path() / "a" / std::to_string(step)));
  }
}

TEST_CASE("the same seed reports the same lines, another one others") {
  Bench bench;
  bench.config["combiner"]["dropout"] = 0.3;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone);
  CHECK(bench.Run("b", 1, bench.EnvOf("b")) == kOneDone);
  Env other = bench.EnvOf("c");
  other["HYPEROPT_SEED"] = "6";
  CHECK(bench.Run("c", 1, other) == kOneDone);
  CHECK(bench.folder.Read("a.jsonl") == bench.folder.Read("b.jsonl"));
  CHECK(bench.folder.Read("a.jsonl") != bench.folder.Read("c.jsonl"));
}

TEST_CASE("a resumed run ends with the weights and lines of an undisturbed one") {
  for (const std::string optimizer : {"adam", "sgd", "adamw"}) {
    CAPTURE(optimizer);
    Bench bench;
    bench.config["combiner"]["dropout"] = 0.3;
    bench.config["combiner"]["norm"] = "batch";
    bench.config["trainer"]["optimizer"] = {{"type", optimizer}, {"momentum", 0.9}};
    bench.WriteFiles();
    CHECK(bench.Run("whole", 1, bench.EnvOf("whole")) == kOneDone);
    Env half = bench.EnvOf("half");
    half["HYPEROPT_BUDGET"] = "2";
    CHECK(bench.Run("half", 1, half) == kOneDone);
    CHECK(bench.folder.Lines("half.jsonl").size() == 2);
    Env rest = bench.EnvOf("rest");
    rest["HYPEROPT_RESUME_FROM"] = bench.folder.path() / "half" / "2";
    CHECK_MESSAGE(bench.Run("rest", 1, rest) == kOneDone, bench.Log("rest"));
    CHECK(bench.Weights("rest", 4) == bench.Weights("whole", 4));
    const auto whole = bench.folder.Lines("whole.jsonl");
    // The line of the checkpoint is said again, since it may have been lost.
    CHECK(bench.folder.Lines("rest.jsonl") ==
          std::vector<std::string>(whole.begin() + 1, whole.end()));
  }
}

TEST_CASE("a clone of another trial's checkpoint does not repeat its report") {
  Bench bench;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone);
  Env clone = bench.EnvOf("b");
  clone["HYPEROPT_TRIAL"] = "8";
  clone["HYPEROPT_RESUME_FROM"] = bench.folder.path() / "a" / "3";
  CHECK(bench.Run("b", 1, clone) == kOneDone);
  REQUIRE(bench.folder.Lines("b.jsonl").size() == 1);
  CHECK(bench.folder.Lines("b.jsonl")[0] == bench.folder.Lines("a.jsonl")[3]);
}

TEST_CASE("a diverged run reports NaN, keeps no checkpoint of it and exits 0") {
  Bench bench;
  bench.config["trainer"]["learning_rate"] = 1e30;
  bench.config["trainer"]["optimizer"] = "sgd";
  bench.config["trainer"]["gradient_clipping"] = {{"clipglobalnorm", nullptr}};
  bench.WriteFiles();
  CHECK_MESSAGE(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone, bench.Log("a"));
  const auto lines = bench.folder.Lines("a.jsonl");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("\"loss\": NaN") != std::string::npos);
  CHECK(!FindCheckpoint(bench.folder.path() / "a"));
}

TEST_CASE("early_stop ends a run without improvement") {
  Bench bench;
  bench.config["trainer"]["learning_rate"] = 0;
  bench.config["trainer"]["early_stop"] = 2;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone);
  // The first epoch is the best; two more without improvement.
  CHECK(bench.folder.Lines("a.jsonl").size() == 3);
  CHECK(bench.Log("a").find("early_stop") != std::string::npos);
}

TEST_CASE("checkpoints that do not load are refused with their path") {
  Bench bench;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone);
  const auto checkpoint = bench.folder.path() / "a" / "2";
  const auto resume = [&](const std::string& name) {
    Env env = bench.EnvOf(name);
    env["HYPEROPT_RESUME_FROM"] = checkpoint;
    const auto codes = bench.Run(name, 1, env);
    return codes[0];
  };
  std::filesystem::resize_file(checkpoint / "model.pt", 100);
  CHECK(resume("torn") == 3);
  CHECK(bench.Log("torn").find("model.pt") != std::string::npos);
  std::filesystem::remove(checkpoint / "COMPLETE");
  CHECK(resume("incomplete") == 3);
  CHECK(bench.Log("incomplete").find("no complete checkpoint") != std::string::npos);
}

TEST_CASE("a checkpoint of another shape is refused") {
  Bench bench;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone);
  bench.config["combiner"]["output_size"] = 17;
  bench.WriteFiles();
  Env env = bench.EnvOf("b");
  env["HYPEROPT_RESUME_FROM"] = bench.folder.path() / "a";
  CHECK(bench.Run("b", 1, env) == std::vector<int>{3});
  CHECK(bench.Log("b").find("another shape") != std::string::npos);
}

TEST_CASE("--check --json: rows, steps and metrics, or every error; nothing is run") {
  Bench bench;
  bench.WriteFiles();
  const std::vector<std::string> check = {"--check", "--json"};
  RankProcess good(check, bench.EnvOf("a"), bench.folder.path() / "good");
  CHECK(good.Wait() == 0);
  const Json report = Json::parse(bench.folder.Read("good"));
  CHECK(report["errors"].empty());
  CHECK(report["rows"]["train"] == 155);
  CHECK(report["steps_per_epoch"] == 10);
  CHECK(report["metrics"].get<std::vector<std::string>>() ==
        ReportedFields(TrainBenchConfig()));
  CHECK(!std::filesystem::exists(bench.folder.path() / "a.jsonl"));

  bench.config["input_features"][0]["column"] = "y";
  bench.config["input_features"][1]["column"] = "zz";
  bench.WriteFiles();
  RankProcess bad(check, bench.EnvOf("a"), bench.folder.path() / "bad");
  CHECK(bad.Wait() == 2);
  const Json errors = Json::parse(bench.folder.Read("bad"))["errors"];
  REQUIRE(errors.size() == 2);
  CHECK(errors[0]["path"] == "input_features.0.column");
}

TEST_CASE("usage and config errors exit 2 and say where") {
  Bench bench;
  bench.config["trainer"]["epoch"] = 3;
  bench.WriteFiles();
  CHECK(bench.Run("a", 1, bench.EnvOf("a")) == std::vector<int>{2});
  CHECK(bench.Log("a").find("trainer.epoch: unknown key; did you mean epochs?") !=
        std::string::npos);
  RankProcess nothing({}, {}, bench.folder.path() / "b.log");
  CHECK(nothing.Wait() == 2);
  RankProcess flag({"--no-such-flag"}, {}, bench.folder.path() / "c.log");
  CHECK(flag.Wait() == 2);
  RankProcess help({"--help"}, {}, bench.folder.path() / "d.log");
  CHECK(help.Wait() == 0);
}

}  // namespace
}  // namespace hyperopt
