#include "trainer/internal/train_bench_fixture.h"

#include <fmt/format.h>

#include "trainer/train.h"
#include "trial/ids.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

std::string TableText() {
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

}  // namespace

nlohmann::ordered_json TrainBenchConfig() {
  return nlohmann::ordered_json::parse(R"({
    "input_features": [{"name": "x", "type": "number"}, {"name": "c", "type": "category"},
                       {"name": "b", "type": "binary", "encoder": {"type": "dense", "output_size": 4}}],
    "output_features": [{"name": "kind", "type": "category"}, {"name": "value", "type": "number"},
                        {"name": "flag", "type": "binary"}],
    "combiner": {"num_fc_layers": 2, "output_size": 16},
    "preprocessing": {"split": {"type": "fixed", "column": "s"}},
    "dataset": "table.csv",
    "trainer": {"epochs": 4, "batch_size": 16, "learning_rate": 0.01, "early_stop": -1}})");
}

void TrainBench::WriteFiles() {
  folder.Write("table.csv", TableText());
  config_path = folder.Write("config.json", config.dump());
}

TrainBench::Env TrainBench::EnvOf(const std::string& name) const {
  return {{"HYPEROPT_CONFIG", config_path},
          {"HYPEROPT_REPORT", folder.path() / (name + ".jsonl")},
          {"HYPEROPT_CHECKPOINT_DIR", folder.path() / name},
          {"HYPEROPT_TRIAL", "7"},
          {"HYPEROPT_SEED", "5"}};
}

std::vector<RankProcess> TrainBench::Start(const std::string& name,
                                           int ranks,
                                           Env env) const {
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

std::vector<int> TrainBench::Run(const std::string& name,
                                 int ranks,
                                 const Env& env) const {
  std::vector<int> codes;
  auto processes = Start(name, ranks, env);
  for (RankProcess& process : processes) codes.push_back(process.Wait());
  return codes;
}

std::vector<float> TrainBench::Weights(const std::string& name, int step) const {
  return ReadCheckpointWeights(folder.path() / name / std::to_string(step));
}

std::string TrainBench::Log(const std::string& name) const {
  return folder.Read(name + ".log");
}

}  // namespace hyperopt
