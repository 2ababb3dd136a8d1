// The real program as several ranks: processes on loopback.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "trainer/checkpoint.h"
#include "trainer/internal/train_bench_fixture.h"

namespace hyperopt {
namespace {

using Bench = TrainBench;
using Env = TrainBench::Env;
using Json = nlohmann::ordered_json;

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

}  // namespace
}  // namespace hyperopt
