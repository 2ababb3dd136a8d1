// What stands around a trial's command: wrapper, container, tracker.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "executors/attempt_folder.h"
#include "executors/container.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using Strings = std::vector<std::string>;

SweepSpec Sweep() {
  SweepSpec sweep;
  sweep.sweep_id = "0123456789abcdef";
  sweep.name = "my sweep";
  sweep.sweep_dir = "/results/my sweep";
  sweep.config_dir = "/";
  sweep.workdir = "/work dir";
  sweep.command = {"python3", "train.py", "${lr}"};
  sweep.env = {{"MODE", "x-${lr}"}};
  return sweep;
}

Launch OneLaunch() {
  Launch launch;
  launch.key = {TrialId(17), RunId(0), Attempt(2)};
  launch.params = {{"lr", 0.5}};
  return launch;
}

std::vector<RankSpec> Ranks(const SweepSpec& sweep,
                            const Launch& launch,
                            const Strings& base = {},
                            const std::vector<std::vector<int>>& cpus = {}) {
  return MakeRanks(
      sweep, launch, AttemptDir(sweep.sweep_dir, launch.key), base, 4711, cpus);
}

std::string Value(const RankSpec& rank, const std::string& name) {
  for (const std::string& variable : rank.env) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return "absent";
}

// The words that follow each `option`.
Strings After(const Strings& words, const std::string& option) {
  Strings found;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) found.push_back(words[i + 1]);
  }
  return found;
}
bool Has(const Strings& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST_SUITE_BEGIN("surroundings");

TEST_CASE("the wrapper's words come first, with their places filled") {
  SweepSpec sweep = Sweep();
  sweep.around.wrapper = {"apptainer", "exec", "--nv", "${config.dir}image.sif"};
  CHECK(
      Ranks(sweep, OneLaunch())[0].argv ==
      Strings{"apptainer", "exec", "--nv", "/image.sif", "python3", "train.py", "0.5"});
}

TEST_CASE("a container's words") {
  SweepSpec sweep = Sweep();
  sweep.around.wrapper = {"nice"};
  sweep.around.container = {Engine::kDocker, "image:1", {"--ipc=host"}};
  Launch launch = OneLaunch();
  const RankSpec rank = Ranks(sweep, launch)[0];
  const Strings& words = rank.argv;
  REQUIRE(words.size() > 10);
  const std::string name = "hyperopt-0123456789abcdef-17-0-2-0";
  CHECK(Strings(words.begin(), words.begin() + 9) == Strings{"nice",
                                                             "docker",
                                                             "run",
                                                             "--rm",
                                                             "--init",
                                                             "--name",
                                                             name,
                                                             "--workdir",
                                                             "/work dir"});
  CHECK(Strings(words.end() - 5, words.end()) ==
        Strings{"--ipc=host", "image:1", "python3", "train.py", "0.5"});
  CHECK(After(words, "-v") ==
        Strings{"/:/",
                "/results/my sweep/trials:/results/my sweep/trials",
                "/work dir:/work dir"});
  CHECK(rank.cleanup == Strings{"docker", "rm", "--force", name});
  CHECK_FALSE(Has(words, "--gpus"));
  CHECK_FALSE(Has(words, "--network"));
  const Strings user = After(words, "--user");
  CHECK(user.size() == (geteuid() == 0 ? 0 : 1));
}

TEST_CASE("variables go into a container by name, so that no value is seen by `ps`") {
  SweepSpec sweep = Sweep();
  sweep.around.container = {Engine::kDocker, "image", {}};
  sweep.env_from = {{"TOKEN", "MY_TOKEN"}};
  const RankSpec rank = Ranks(sweep, OneLaunch(), {"MY_TOKEN=secret", "OTHER=1"})[0];
  const Strings names = After(rank.argv, "--env");
  for (const char* name : {"TOKEN",
                           "MODE",
                           "OMP_NUM_THREADS",
                           "HYPEROPT_REPORT",
                           "HYPEROPT_PARAM_LR",
                           "HYPEROPT_TOKEN"}) {
    CHECK_MESSAGE(Has(names, name), name);
  }
  CHECK_FALSE(Has(names, "OTHER"));
  CHECK(Value(rank, "TOKEN") == "secret");
  for (const std::string& word : rank.argv) {
    CHECK(word.find("secret") == word.npos);
  }
}

TEST_CASE("devices, CPUs and ranks of a container") {
  SweepSpec sweep = Sweep();
  sweep.around.container = {Engine::kDocker, "image", {}};
  Launch launch = OneLaunch();
  launch.ranks = 2;
  launch.devices = {{"2", "5"}, {"GPU-x"}};
  const std::vector<RankSpec> docker = Ranks(sweep, launch, {}, {{0, 3}, {}});
  CHECK(After(docker[0].argv, "--gpus") == Strings{"\"device=2,5\""});
  CHECK(After(docker[1].argv, "--gpus") == Strings{"\"device=GPU-x\""});
  // Inside they count from 0.
  CHECK(Has(docker[0].argv, "CUDA_VISIBLE_DEVICES=0,1"));
  CHECK_FALSE(Has(docker[0].argv, "CUDA_VISIBLE_DEVICES"));
  CHECK(After(docker[0].argv, "--network") == Strings{"host"});
  CHECK(Has(docker[0].argv, "--cpuset-cpus=0,3"));
  CHECK(docker[0].cpus == std::vector<int32_t>{0, 3});
  CHECK(docker[0].cleanup.back() == "hyperopt-0123456789abcdef-17-0-2-0");
  CHECK(docker[1].cleanup.back() == "hyperopt-0123456789abcdef-17-0-2-1");
  sweep.around.container.engine = Engine::kPodman;
  const RankSpec podman = Ranks(sweep, launch)[0];
  CHECK(podman.argv[0] == "podman");
  CHECK(After(podman.argv, "--device") ==
        Strings{"nvidia.com/gpu=2", "nvidia.com/gpu=5"});
  CHECK(podman.cleanup[0] == "podman");
}

TEST_CASE("a folder that an engine can not be told is refused") {
  SweepSpec sweep = Sweep();
  sweep.around.container = {Engine::kDocker, "image", {}};
  sweep.workdir = "/with:colon";
  CHECK_THROWS_WITH_AS(
      Ranks(sweep, OneLaunch()), doctest::Contains("has a colon"), ConfigError);
}

TEST_CASE("wandb: a group, a name, and an id that the attempts share") {
  SweepSpec sweep = Sweep();
  sweep.around.tracker = Tracker::kWandb;
  Launch launch = OneLaunch();
  const RankSpec rank = Ranks(sweep, launch, {"WANDB_RUN_ID=outer", "WANDB_DIR=/d"})[0];
  CHECK(Value(rank, "WANDB_RUN_GROUP") == "my sweep");
  CHECK(Value(rank, "WANDB_NAME") == "my sweep-17");
  CHECK(Value(rank, "WANDB_RUN_ID") == "0123456789abcdef-17");
  CHECK(Value(rank, "WANDB_RESUME") == "allow");
  CHECK(Value(rank, "WANDB_DIR") == "/d");  // the user's
  CHECK(Value(Ranks(sweep, launch)[0], "WANDB_DIR") ==
        "/results/my sweep/trials/17/0/2");
  launch.key.attempt = Attempt(3);
  CHECK(Value(Ranks(sweep, launch)[0], "WANDB_RUN_ID") == "0123456789abcdef-17");
  sweep.env["WANDB_NAME"] = "mine-${lr}";
  CHECK(Value(Ranks(sweep, launch)[0], "WANDB_NAME") == "mine-0.5");
  CHECK(Value(Ranks(sweep, launch)[0], "MLFLOW_EXPERIMENT_NAME") == "absent");
  // A cut name is whole characters.
  sweep.name = std::string(119, 'x') + "\xc3\xa9 and more";
  CHECK(Value(Ranks(sweep, launch)[0], "WANDB_RUN_GROUP") == std::string(119, 'x'));
}

TEST_CASE("mlflow: an experiment, and tags that name the run") {
  SweepSpec sweep = Sweep();
  sweep.name = "a \"quoted\" sweep";
  sweep.around.tracker = Tracker::kMlflow;
  const RankSpec rank = Ranks(sweep, OneLaunch())[0];
  CHECK(Value(rank, "MLFLOW_EXPERIMENT_NAME") == sweep.name);
  CHECK(Value(rank, "MLFLOW_RUN_CONTEXT") ==
        R"({"mlflow.runName":"a \"quoted\" sweep-17",)"
        R"("hyperopt.sweep":"a \"quoted\" sweep",)"
        R"("hyperopt.sweep_id":"0123456789abcdef",)"
        R"("hyperopt.trial":"17","hyperopt.attempt":"2"})");
  CHECK(Value(rank, "MLFLOW_TAGS") == Value(rank, "MLFLOW_RUN_CONTEXT"));
  // Whose run that would be is only known to the server.
  CHECK(Value(rank, "MLFLOW_RUN_ID") == "absent");
  CHECK(Value(Ranks(sweep, OneLaunch(), {"MLFLOW_EXPERIMENT_NAME=e"})[0],
              "MLFLOW_EXPERIMENT_NAME") == "e");
  CHECK(Value(rank, "WANDB_NAME") == "absent");
}

TEST_CASE("without a tracker none of its variables is set") {
  const RankSpec rank = Ranks(Sweep(), OneLaunch())[0];
  for (const std::string& variable : rank.env) {
    CHECK_FALSE(variable.starts_with("WANDB_"));
    CHECK_FALSE(variable.starts_with("MLFLOW_"));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
