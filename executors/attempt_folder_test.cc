#include "executors/attempt_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "executors/testing/temp_sweep.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using testing::TempSweep;

const RunKey kKey{TrialId(17), RunId(0), Attempt(2)};

SweepSpec Sweep(const fs::path& dir) {
  SweepSpec sweep;
  sweep.sweep_id = "0123456789abcdef";
  sweep.name = "my sweep";
  sweep.sweep_dir = dir;
  sweep.config_dir = "/where/the file is";
  sweep.command = {"train", "${args}", "${lr}", "${trial.id}", "${config.dir}"};
  sweep.model = R"({"trainer":{"epochs":3},"kept":1})";
  sweep.parameter_order = {"trainer.learning_rate", "lr", "."};
  return sweep;
}
Launch SomeLaunch() {
  Launch launch;
  launch.key = kKey;
  launch.params = {
      {"lr", 1e-5}, {"trainer.learning_rate", 0.25}, {"name", std::string("a b")}};
  launch.seed = UINT64_MAX;
  launch.cpus_per_rank = Share::Of(2.5);
  return launch;
}

// The value of a variable; nullopt where it is absent. Fails where it is there twice.
std::optional<std::string> Value(const RankSpec& rank, const std::string& name) {
  std::optional<std::string> value;
  for (const std::string& variable : rank.env) {
    if (!variable.starts_with(name + "=")) continue;
    CHECK_MESSAGE(!value, name << " is there twice");
    value = variable.substr(name.size() + 1);
  }
  return value;
}
RankSpec OneRank(const SweepSpec& sweep,
                 const Launch& launch,
                 const std::vector<std::string>& base = {}) {
  const auto ranks =
      MakeRanks(sweep, launch, AttemptDir(sweep.sweep_dir, launch.key), base, 0);
  REQUIRE(ranks.size() == 1);
  return ranks[0];
}

TEST_SUITE("attempt folder") {
  TEST_CASE("its place") {
    CHECK(AttemptDir("/a b/sweep", kKey) == "/a b/sweep/trials/17/0/2");
  }

  TEST_CASE("params.json is flat, config.json is merged, the report is empty") {
    const TempSweep temp;
    const fs::path dir = AttemptDir(temp.dir(), kKey);
    PrepareAttemptDir(dir, Sweep(temp.dir()), SomeLaunch());
    const auto params = nlohmann::json::parse(*ReadFile(dir / kParamsFile));
    CHECK(params == nlohmann::json{{"lr", 1e-5},
                                   {"trainer.learning_rate", 0.25},
                                   {"name", "a b"}});
    const auto config = nlohmann::json::parse(*ReadFile(dir / kConfigFile));
    CHECK(config["trainer"] == nlohmann::json{{"epochs", 3}, {"learning_rate", 0.25}});
    CHECK(config["kept"] == 1);
    CHECK(config["lr"] == 1e-5);
    CHECK(ReadFile(dir / kReportFile) == "");
    CHECK(fs::is_directory(dir / kCheckpointFolder));
  }

  TEST_CASE("a repeated launch changes nothing, one that was cut short is done again") {
    const TempSweep temp;
    const fs::path dir = AttemptDir(temp.dir(), kKey);
    PrepareAttemptDir(dir, Sweep(temp.dir()), SomeLaunch());
    std::ofstream(dir / kReportFile) << "{\"loss\":1}\n";
    std::ofstream(dir / kParamsFile) << "mine";
    PrepareAttemptDir(dir, Sweep(temp.dir()), SomeLaunch());
    CHECK(ReadFile(dir / kReportFile) == "{\"loss\":1}\n");
    CHECK(ReadFile(dir / kParamsFile) == "mine");
    fs::remove(dir / kReportFile);
    PrepareAttemptDir(dir, Sweep(temp.dir()), SomeLaunch());
    CHECK(ReadFile(dir / kParamsFile) != "mine");
    CHECK(ReadFile(dir / kReportFile) == "");
  }

  TEST_CASE("what can not be made or merged says why") {
    const TempSweep temp;
    std::ofstream(temp.dir() / "trials") << "a file";
    CHECK_THROWS_WITH_AS(
        PrepareAttemptDir(
            AttemptDir(temp.dir(), kKey), Sweep(temp.dir()), SomeLaunch()),
        doctest::Contains("trials"),
        EnvironmentError);
    fs::remove(temp.dir() / "trials");
    Launch launch = SomeLaunch();
    SweepSpec sweep = Sweep(temp.dir());
    sweep.parameter_order = {"kept.deeper"};
    launch.params = {{"kept.deeper", int64_t{1}}};
    CHECK_THROWS_AS(PrepareAttemptDir(AttemptDir(temp.dir(), kKey), sweep, launch),
                    ConfigError);
  }

  TEST_CASE("an empty model is an empty map") {
    const TempSweep temp;
    SweepSpec sweep = Sweep(temp.dir());
    sweep.model.clear();
    Launch launch;
    launch.key = kKey;
    const fs::path dir = AttemptDir(temp.dir(), kKey);
    PrepareAttemptDir(dir, sweep, launch);
    CHECK(ReadFile(dir / kConfigFile) == "{}");
    CHECK(ReadFile(dir / kParamsFile) == "{}");
  }
}

TEST_SUITE("ranks") {
  TEST_CASE("the contract's environment") {
    SweepSpec sweep = Sweep("/s w");
    Launch launch = SomeLaunch();
    const RankSpec rank = OneRank(sweep, launch, {"PATH=/bin", "HOME=/root"});
    CHECK(Value(rank, "PATH") == "/bin");
    CHECK(Value(rank, "HYPEROPT_SWEEP") == "my sweep");
    CHECK(Value(rank, "HYPEROPT_TRIAL") == "17");
    CHECK(Value(rank, "HYPEROPT_ATTEMPT") == "2");
    CHECK(Value(rank, "HYPEROPT_SEED") == "18446744073709551615");
    CHECK(Value(rank, "HYPEROPT_CONTRACT") == "1");
    CHECK(Value(rank, "HYPEROPT_TRIAL_DIR") == "/s w/trials/17/0/2");
    CHECK(Value(rank, "HYPEROPT_REPORT") == "/s w/trials/17/0/2/report.jsonl");
    CHECK(Value(rank, "HYPEROPT_PARAMS") == "/s w/trials/17/0/2/params.json");
    CHECK(Value(rank, "HYPEROPT_CONFIG") == "/s w/trials/17/0/2/config.json");
    CHECK(Value(rank, "HYPEROPT_CHECKPOINT_DIR") == "/s w/trials/17/0/2/checkpoints");
    CHECK(Value(rank, "HYPEROPT_PARAM_LR") == "1.0e-05");
    CHECK(Value(rank, "HYPEROPT_PARAM_TRAINER_LEARNING_RATE") == "0.25");
    CHECK(Value(rank, "HYPEROPT_PARAM_NAME") == "a b");
    CHECK(Value(rank, "PYTHONUNBUFFERED") == "1");
    CHECK(Value(rank, "OMP_NUM_THREADS") == "2");
    for (const char* absent : {"HYPEROPT_RESUME_FROM",
                               "HYPEROPT_BUDGET",
                               "RANK",
                               "WORLD_SIZE",
                               "MASTER_ADDR",
                               "CUDA_VISIBLE_DEVICES",
                               "HYPEROPT_TOKEN"}) {
      CHECK_FALSE(Value(rank, absent));
    }
    launch.budget = 27;
    launch.resume_from = "trials/3/0/1/checkpoints/9";
    launch.cpus_per_rank = Share::Of(0.5);
    const RankSpec other = OneRank(sweep, launch);
    CHECK(Value(other, "HYPEROPT_BUDGET") == "27");
    CHECK(Value(other, "HYPEROPT_RESUME_FROM") == "/s w/trials/3/0/1/checkpoints/9");
    CHECK(Value(other, "OMP_NUM_THREADS") == "1");
  }

  TEST_CASE("words, folder and logs") {
    SweepSpec sweep = Sweep("/s");
    const RankSpec rank = OneRank(sweep, SomeLaunch());
    CHECK(rank.argv == std::vector<std::string>{"train",
                                                "--lr=1.0e-05",
                                                "--name=a b",
                                                "--trainer.learning_rate=0.25",
                                                "1.0e-05",
                                                "17",
                                                "/where/the file is"});
    CHECK(rank.cwd == "/s/trials/17/0/2");
    CHECK(rank.stdout_path == "/s/trials/17/0/2/stdout.log");
    CHECK(rank.stderr_path == "/s/trials/17/0/2/stderr.log");
    sweep.workdir = "/home/me";
    sweep.arg_names = {{"name", std::nullopt}, {"lr", "rate"}};
    sweep.command = {"x", "${args}"};
    const RankSpec other = OneRank(sweep, SomeLaunch());
    CHECK(other.cwd == "/home/me");
    CHECK(other.argv == std::vector<std::string>{
                            "x", "--rate=1.0e-05", "--trainer.learning_rate=0.25"});
    sweep.command = {"${env.NO_SUCH_VARIABLE}"};
    CHECK_THROWS_AS(OneRank(sweep, SomeLaunch()), ConfigError);
    CHECK(OneRank(sweep, SomeLaunch(), {"NO_SUCH_VARIABLE=yes"}).argv[0] == "yes");
  }

  TEST_CASE("what a launcher, torchrun or an outer sweep left is cleared") {
    const std::vector<std::string> base = {"SLURM_JOB_ID=1",
                                           "SLURM_PROCID=0",
                                           "OMPI_COMM_WORLD_RANK=3",
                                           "PMI_RANK=1",
                                           "PMIX_RANK=1",
                                           "RANK=5",
                                           "WORLD_SIZE=9",
                                           "MASTER_PORT=1",
                                           "LOCAL_RANK=2",
                                           "TORCHELASTIC_RUN_ID=x",
                                           "HYPEROPT_PARAM_OUTER=1",
                                           "HYPEROPT_TOKEN=t",
                                           "HYPEROPT_RESUME_FROM=/old",
                                           "HYPEROPT_REPORT=/old",
                                           "SLURMY=kept",
                                           "KEPT=1",
                                           "OMP_NUM_THREADS=64"};
    SweepSpec sweep = Sweep("/s");
    const RankSpec rank = OneRank(sweep, SomeLaunch(), base);
    for (const char* gone : {"SLURM_JOB_ID",
                             "SLURM_PROCID",
                             "OMPI_COMM_WORLD_RANK",
                             "PMI_RANK",
                             "PMIX_RANK",
                             "RANK",
                             "WORLD_SIZE",
                             "MASTER_PORT",
                             "LOCAL_RANK",
                             "TORCHELASTIC_RUN_ID",
                             "HYPEROPT_PARAM_OUTER",
                             "HYPEROPT_TOKEN",
                             "HYPEROPT_RESUME_FROM"}) {
      CHECK_MESSAGE(!Value(rank, gone), gone);
    }
    CHECK(Value(rank, "SLURMY") == "kept");
    CHECK(Value(rank, "KEPT") == "1");
    CHECK(Value(rank, "OMP_NUM_THREADS") == "2");
    CHECK(Value(rank, "HYPEROPT_REPORT") == "/s/trials/17/0/2/report.jsonl");
    sweep.keep_env = {"SLURM_JOB_ID", "PMI*"};
    const RankSpec kept = OneRank(sweep, SomeLaunch(), base);
    CHECK(Value(kept, "SLURM_JOB_ID") == "1");
    CHECK_FALSE(Value(kept, "SLURM_PROCID"));
    CHECK(Value(kept, "PMI_RANK") == "1");
    CHECK(Value(kept, "PMIX_RANK") == "1");
  }

  TEST_CASE("env of the search file: templates, from, and who wins") {
    SweepSpec sweep = Sweep("/s");
    sweep.env = {{"NAME", "t${trial.id}-${lr}"},
                 {"OMP_NUM_THREADS", "7"},
                 {"HYPEROPT_TRIAL", "forged"},
                 {"HOME", "/elsewhere"}};
    sweep.env_from = {{"TOKEN", "MY_TOKEN"}};
    const RankSpec rank =
        OneRank(sweep, SomeLaunch(), {"MY_TOKEN=s3cret", "HOME=/root"});
    CHECK(Value(rank, "NAME") == "t17-1.0e-05");
    CHECK(Value(rank, "OMP_NUM_THREADS") == "7");
    CHECK(Value(rank, "HYPEROPT_TRIAL") == "17");
    CHECK(Value(rank, "HOME") == "/elsewhere");
    CHECK(Value(rank, "TOKEN") == "s3cret");
    CHECK_THROWS_WITH_AS(
        OneRank(sweep, SomeLaunch()), doctest::Contains("MY_TOKEN"), ConfigError);
  }

  TEST_CASE("a parameter too long for a variable is left to the file") {
    SweepSpec sweep = Sweep("/s");
    sweep.command = {"x"};
    Launch launch = SomeLaunch();
    launch.params = {{"a", std::string((128 << 10) - 18, 'x')},
                     {"b", std::string((128 << 10) - 17, 'x')},
                     {"c", std::string("a\0b", 3)}};
    const RankSpec rank = OneRank(sweep, launch);
    const auto a = Value(rank, "HYPEROPT_PARAM_A");
    REQUIRE(a);
    CHECK(a->size() + 17 + 1 == 128 << 10);
    CHECK_FALSE(Value(rank, "HYPEROPT_PARAM_B"));
    CHECK_FALSE(Value(rank, "HYPEROPT_PARAM_C"));
  }

  TEST_CASE("devices: those given, none, or what is inherited") {
    const SweepSpec sweep = Sweep("/s");
    Launch launch = SomeLaunch();
    const std::vector<std::string> base = {"CUDA_VISIBLE_DEVICES=4,5"};
    CHECK(Value(OneRank(sweep, launch, base), "CUDA_VISIBLE_DEVICES") == "4,5");
    launch.devices = {{"4", "GPU-7"}};
    const RankSpec rank = OneRank(sweep, launch, base);
    CHECK(Value(rank, "CUDA_VISIBLE_DEVICES") == "4,GPU-7");
    CHECK(Value(rank, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID");
    launch.devices = {{}};
    launch.hide_gpus = true;
    CHECK(Value(OneRank(sweep, launch, base), "CUDA_VISIBLE_DEVICES") == "");
  }

  TEST_CASE("a gang speaks torchrun's words, and rank 0 reports") {
    SweepSpec sweep = Sweep("/s");
    Launch launch = SomeLaunch();
    launch.ranks = 3;
    launch.devices = {{"0"}, {"1"}, {"2"}};
    const auto ranks = MakeRanks(sweep, launch, "/s/trials/17/0/2", {"RANK=9"}, 4711);
    REQUIRE(ranks.size() == 3);
    for (int i = 0; i < 3; ++i) {
      CHECK(Value(ranks[i], "RANK") == std::to_string(i));
      CHECK(Value(ranks[i], "LOCAL_RANK") == std::to_string(i));
      CHECK(Value(ranks[i], "WORLD_SIZE") == "3");
      CHECK(Value(ranks[i], "LOCAL_WORLD_SIZE") == "3");
      CHECK(Value(ranks[i], "GROUP_RANK") == "0");
      CHECK(Value(ranks[i], "MASTER_ADDR") == "127.0.0.1");
      CHECK(Value(ranks[i], "MASTER_PORT") == "4711");
      CHECK(Value(ranks[i], "TORCHELASTIC_RUN_ID") == "0123456789abcdef-17-0-2");
      CHECK(Value(ranks[i], "CUDA_VISIBLE_DEVICES") == std::to_string(i));
      CHECK(ranks[i].argv == ranks[0].argv);
    }
    CHECK(Value(ranks[0], "HYPEROPT_REPORT") == "/s/trials/17/0/2/report.jsonl");
    CHECK(Value(ranks[1], "HYPEROPT_REPORT") == "/dev/null");
    CHECK(ranks[0].stdout_path == "/s/trials/17/0/2/stdout.log");
    CHECK(ranks[2].stdout_path == "/s/trials/17/0/2/stdout.2.log");
    CHECK(ranks[2].stderr_path == "/s/trials/17/0/2/stderr.2.log");
  }

  TEST_CASE("a free port can be bound") {
    const int port = FreePort();
    CHECK(port > 0);
    CHECK(port < 65536);
  }
}

}  // namespace
}  // namespace hyperopt
