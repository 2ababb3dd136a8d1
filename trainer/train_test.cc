// The real program, from outside: ranks are processes on loopback.
#include "trainer/train.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "trainer/checkpoint.h"
#include "trainer/testing/rank_process.h"
#include "trial/ids.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

using Env = std::map<std::string, std::string>;
using Json = nlohmann::ordered_json;

// 200 rows: 155 to train on, 20 to validate, 25 to test, of all feature types, with
// targets that can be learned.
std::string Table() {
  Rng rng(1, TrialId(), "table");
  std::string csv = "x,c,b,kind,value,flag,s\n";
  for (int row = 0; row < 200; ++row) {
    const double x = rng.Normal();
    const auto c = static_cast<int>(rng.Below(3));
    const bool b = rng.Below(2) == 1;
    const double value = 3 * x + c + (b ? 1 : 0) + 0.1 * rng.Normal();
    const char* split = row < 155 ? "0" : row < 175 ? "1" : "2";
    csv += fmt::format("{},{},{},{},{},{},{}\n",
                       row % 17 == 0 ? "" : fmt::format("{}", x),
                       "rgb"[c],
                       b,
                       value > 2   ? "high"
                       : value > 0 ? "middle"
                                   : "low",
                       value,
                       value > 1,
                       split);
  }
  return csv;
}

Json Config() {
  return Json::parse(R"({
    "input_features": [{"name": "x", "type": "number"}, {"name": "c", "type": "category"},
                       {"name": "b", "type": "binary", "encoder": {"type": "dense", "output_size": 4}}],
    "output_features": [{"name": "kind", "type": "category"}, {"name": "value", "type": "number"},
                        {"name": "flag", "type": "binary"}],
    "combiner": {"num_fc_layers": 2, "output_size": 16},
    "preprocessing": {"split": {"type": "fixed", "column": "s"}},
    "dataset": "table.csv",
    "trainer": {"epochs": 4, "batch_size": 16, "learning_rate": 0.01, "early_stop": -1}})");
}

// A folder with table and config, in which trials run.
struct Bench {
  TestFolder folder;
  Json config = Config();
  std::filesystem::path config_path;

  void WriteFiles() {
    folder.Write("table.csv", Table());
    config_path = folder.Write("config.json", config.dump());
  }

  // The environment of a trial whose files are called after `name`.
  Env EnvOf(const std::string& name) const {
    return {{"HYPEROPT_CONFIG", config_path},
            {"HYPEROPT_REPORT", folder.path() / (name + ".jsonl")},
            {"HYPEROPT_CHECKPOINT_DIR", folder.path() / name},
            {"HYPEROPT_TRIAL", "7"},
            {"HYPEROPT_SEED", "5"}};
  }

  std::vector<RankProcess> Start(const std::string& name, int ranks, Env env) const {
    std::vector<RankProcess> processes;
    env["MASTER_ADDR"] = "127.0.0.1";
    env["MASTER_PORT"] = std::to_string(FreePort());
    env["WORLD_SIZE"] = std::to_string(ranks);
    if (ranks == 1) env.erase("WORLD_SIZE");
    for (int rank = 0; rank < ranks; ++rank) {
      env["RANK"] = std::to_string(rank);
      processes.emplace_back(
          std::vector<std::string>{}, env, folder.path() / (name + ".log"));
    }
    return processes;
  }

  std::vector<int> Run(const std::string& name, int ranks, const Env& env) const {
    std::vector<int> codes;
    auto processes = Start(name, ranks, env);
    for (RankProcess& process : processes) codes.push_back(process.Wait());
    return codes;
  }

  std::vector<float> Weights(const std::string& name, int step) const {
    return ReadCheckpointWeights(folder.path() / name / std::to_string(step));
  }
  std::string Log(const std::string& name) const { return folder.Read(name + ".log"); }
};

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

// Waits for a condition that another process brings about.
template <typename Condition>
bool Await(const Condition& condition) {
  for (int i = 0; i < 12000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

const std::vector<int> kOneDone = {0};

TEST_CASE("a run learns, reports every promised field each epoch, and checkpoints it") {
  Bench bench;
  bench.config["trainer"]["epochs"] = 40;
  bench.WriteFiles();
  CHECK_MESSAGE(bench.Run("a", 1, bench.EnvOf("a")) == kOneDone, bench.Log("a"));
  const auto lines = bench.folder.Lines("a.jsonl");
  REQUIRE(lines.size() == 40);
  const Json last = Json::parse(lines.back());
  for (const std::string& field : ReportedFields(Config())) {
    CHECK_MESSAGE(last.contains(field), field);
  }
  CHECK(last.size() == ReportedFields(Config()).size() + 1);
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

TEST_CASE("N ranks with batch B equal one rank with batch N x B to 1e-5") {
  // Ten steps, the last of 11 rows instead of 16; then three ranks, with 5 of 15 rows
  // in the last step, and with 2, so that one rank has none.
  struct Case {
    int ranks;
    int batch_size;
  };
  for (const Case& c : {Case{2, 8}, Case{3, 5}, Case{3, 17}}) {
    for (const std::string optimizer : {"sgd", "adam"}) {
      CAPTURE(c.ranks);
      CAPTURE(optimizer);
      Bench bench;
      bench.config["trainer"]["epochs"] = 1;
      bench.config["trainer"]["optimizer"] = {{"type", optimizer}, {"momentum", 0.9}};
      bench.config["trainer"]["batch_size"] = c.ranks * c.batch_size;
      bench.WriteFiles();
      CHECK(bench.Run("one", 1, bench.EnvOf("one")) == kOneDone);
      bench.config["trainer"]["batch_size"] = c.batch_size;
      bench.WriteFiles();
      CHECK_MESSAGE(bench.Run("many", c.ranks, bench.EnvOf("many")) ==
                        std::vector<int>(c.ranks, 0),
                    bench.Log("many"));
      const auto one = bench.Weights("one", 1);
      CHECK(LargestDifference(one, bench.Weights("many", 1)) < 1e-5);
      const Json one_line = Json::parse(bench.folder.Lines("one.jsonl").at(0));
      const auto many_lines = bench.folder.Lines("many.jsonl");
      REQUIRE(many_lines.size() == 1);
      const Json many_line = Json::parse(many_lines[0]);
      for (const auto& [name, value] : one_line.items()) {
        CAPTURE(name);
        CHECK(many_line[name].get<double>() ==
              doctest::Approx(value.get<double>()).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("the comparison of weights would notice a wrong gradient") {
  Bench bench;
  bench.config["trainer"]["epochs"] = 1;
  bench.WriteFiles();
  CHECK(bench.Run("one", 1, bench.EnvOf("one")) == kOneDone);
  // Two ranks that take the same batch size each: another global batch.
  CHECK(bench.Run("many", 2, bench.EnvOf("many")) == std::vector<int>{0, 0});
  CHECK(LargestDifference(bench.Weights("one", 1), bench.Weights("many", 1)) > 1e-4);
}

TEST_CASE("SIGTERM to any rank stops all of them, exit 0, last epoch checkpointed") {
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    Bench bench;
    bench.config["trainer"]["epochs"] = 1'000'000;
    bench.WriteFiles();
    auto processes = bench.Start("a", ranks, bench.EnvOf("a"));
    REQUIRE_MESSAGE(Await([&] { return bench.folder.Lines("a.jsonl").size() >= 2; }),
                    bench.Log("a"));
    processes.back().Signal(SIGTERM);
    for (RankProcess& process : processes) CHECK(process.Wait() == 0);
    const Json last = Json::parse(bench.folder.Lines("a.jsonl").back());
    CHECK(IsComplete(bench.folder.path() / "a" / last["step"].dump()));
  }
}

TEST_CASE("a rank that is killed ends the others with the environment's code") {
  Bench bench;
  bench.config["trainer"]["epochs"] = 1'000'000;
  bench.WriteFiles();
  auto processes = bench.Start("a", 2, bench.EnvOf("a"));
  REQUIRE(Await([&] { return bench.folder.Lines("a.jsonl").size() >= 1; }));
  processes[1].Signal(SIGKILL);
  CHECK(processes[1].Wait() == 128 + SIGKILL);
  CHECK(processes[0].Wait() == 3);
}

TEST_CASE("a rank that fails alone does not leave the others waiting") {
  Bench bench;
  bench.WriteFiles();
  Env env = bench.EnvOf("a");
  env["HYPEROPT_CHECKPOINT_DIR"] = bench.config_path / "not a folder";
  CHECK(bench.Run("a", 2, env) == std::vector<int>{3, 3});
  CHECK(bench.Log("a").find("make the checkpoint's folder") != std::string::npos);
}

TEST_CASE("a port that is taken is told") {
  Bench bench;
  bench.WriteFiles();
  bench.config["trainer"]["epochs"] = 1'000'000;
  bench.WriteFiles();
  Env env = bench.EnvOf("a");
  env["WORLD_SIZE"] = "2";
  env["RANK"] = "0";
  env["MASTER_PORT"] = std::to_string(FreePort());
  RankProcess first({}, env, bench.folder.path() / "a.log");
  env["RANK"] = "1";
  RankProcess second({}, env, bench.folder.path() / "a.log");
  REQUIRE(Await([&] { return !bench.folder.Lines("a.jsonl").empty(); }));
  env["RANK"] = "0";
  RankProcess other({}, env, bench.folder.path() / "b.log");
  CHECK(other.Wait() == 3);
  CHECK(bench.Log("b").find("Address already in use") != std::string::npos);
}

TEST_CASE("ranks that do not join are named") {
  Bench bench;
  bench.WriteFiles();
  Env env = bench.EnvOf("a");
  env["HYPEROPT_JOIN_TIMEOUT_S"] = "1";
  env["WORLD_SIZE"] = "3";
  env["RANK"] = "0";
  env["MASTER_PORT"] = std::to_string(FreePort());
  RankProcess alone({}, env, bench.folder.path() / "a.log");
  CHECK(alone.Wait() == 3);
  CHECK(bench.Log("a").find("rank 1, 2 of 3 did not join") != std::string::npos);
  env["RANK"] = "1";
  RankProcess other({}, env, bench.folder.path() / "b.log");
  CHECK(other.Wait() == 3);
  CHECK(bench.Log("b").find("rank 0 did not answer") != std::string::npos);
}

TEST_CASE("ranks that were started differently refuse to train together") {
  Bench bench;
  bench.WriteFiles();
  Env env = bench.EnvOf("a");
  env["WORLD_SIZE"] = "2";
  env["RANK"] = "0";
  env["MASTER_PORT"] = std::to_string(FreePort());
  RankProcess first({}, env, bench.folder.path() / "a.log");
  env["RANK"] = "1";
  env["HYPEROPT_SEED"] = "6";
  RankProcess second({}, env, bench.folder.path() / "b.log");
  CHECK(first.Wait() == 3);
  CHECK(second.Wait() == 3);
  CHECK(bench.Log("a").find("different configs") != std::string::npos);
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
  CHECK(report["metrics"].get<std::vector<std::string>>() == ReportedFields(Config()));
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
