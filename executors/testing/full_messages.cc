#include "executors/testing/full_messages.h"

#include <limits>
#include <string>

namespace hyperopt::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
const RunKey& kKey = kFullKey;
const SourceOffset kOffset{{"stdout", 2}, UINT64_MAX, 1ull << 63, 5'000'000'000};
const Oddities kOddities{1, 2, 3, 400, "first \xff\x01"};

SweepSpec FullSweep() {
  SweepSpec sweep;
  sweep.sweep_id = "0123456789abcdef";
  sweep.name = "digits";
  sweep.sweep_dir = "/a path/with spaces";
  sweep.config_dir = "/config";
  sweep.command = {"python3", "train.py", "${args}", ""};
  sweep.model = R"({"trainer":{"epochs":3}})";
  sweep.parameter_order = {"b", "a"};
  sweep.arg_names = {{"a", "alpha"}, {"b", std::nullopt}};
  sweep.workdir = "/work dir";
  sweep.env = {{"X", "${trial.id}"}};
  sweep.env_from = {{"TOKEN", "MY_TOKEN"}};
  sweep.keep_env = {"SLURM_JOB_ID", "OMPI_*"};
  sweep.read = {{ReadKind::kPatterns, {{"loss", "loss: (.*)"}, {"epoch", "e"}}, "", {}},
                {ReadKind::kCsv, {}, "logs/**/metrics.csv", {{"val_loss", "loss"}}}};
  sweep.stop_signal = 2;
  sweep.log_limit = 1LL << 40;
  sweep.best_checkpoints = 3;
  sweep.last_checkpoints = 2;
  sweep.around = {"module load cuda\n",
                  {"nice", "-n", "5"},
                  {Engine::kPodman, "image:1", {"--ipc=host"}},
                  Tracker::kMlflow,
                  true,
                  10LL << 30};
  return sweep;
}

}  // namespace

std::vector<ToExecutor> FullToExecutor() {
  Launch launch;
  launch.key = kKey;
  launch.params = {{"null", std::monostate{}},
                   {"yes", true},
                   {"no", false},
                   {"int", INT64_MIN},
                   {"one", int64_t{1}},
                   {"one.0", 1.0},
                   {"nan", kNan},
                   {"inf", -kInf},
                   {"zero", -0.0},
                   {"text", std::string("a\0b", 3)},
                   {"list", Structured{"[1,2]"}},
                   {"", std::string()}};
  launch.seed = UINT64_MAX;
  launch.ranks = 2;
  launch.devices = {{"0", "GPU-1"}, {}};
  launch.device_share = Share::Of(0.25);
  launch.hide_gpus = true;
  launch.cpus_per_rank = Share::Micro(333'333);
  launch.budget = 81;
  launch.resume_from = "trials/1/0/1/checkpoints/9";
  launch.first_step = 9;
  launch.wall_limit_s = 0.5;
  launch.host_for_ranks = "10.0.0.1";
  launch.after = kKey;
  const Answer answer{1'000'000,
                      true,
                      {{kKey, {kOffset, kOffset}, 3, 9, {7, 1}}},
                      {kKey, kKey},
                      {RunKey{}}};
  return {Welcome{ExecutorId(5),
                  FullSweep(),
                  {0.5, 61, 31, 62},
                  {{kKey, {kOffset}}, {RunKey{}, {}}}},
          answer,
          launch,
          Stop{kKey, Reason::kTooManyLost, kInf, true},
          Shutdown{},
          Refused{"protocol 2, not 1"},
          HelloAgain{}};
}

std::vector<FromExecutor> FullFromExecutor() {
  Hello hello;
  hello.name = "node-1";
  hello.host = "host";
  hello.boot_id = "b";
  hello.pid = 4242;
  hello.born = INT64_MAX;
  hello.embedded = true;
  hello.id = ExecutorId(9);
  hello.sweep_id = "feed";
  hello.lost_policy = LostPolicy::kFinish;
  hello.resources = {Share::Of(1.5), 1LL << 40, {{"0"}, {"MIG-x"}}, {{"zone", "a"}}};
  hello.holdings = {{kKey, HoldState::kEnded, ""},
                    {RunKey{}, HoldState::kStarting, "device 0 is held"}};
  ExitInfo info{
      -1, 9, false, true, "no such program", Reason::kPruned, true, true, true};
  info.wall_s = kNan;
  info.peak_memory = 1LL << 33;
  info.ended_wall = 1.7e9;
  info.last_words = std::string(3000, 'x');
  const ReportLine with_step{
      77, INT64_MAX, {{"loss", kNan}, {"up", kInf}, {"down", -kInf}, {"z", -0.0}}, 1.5};
  const ReportLine empty{99, std::nullopt, {}, 0};
  return {hello,
          Heartbeat{ExecutorId(9),
                    INT64_MAX,
                    12,
                    {{kKey, HoldState::kStopping, ""}},
                    {{-1, ""}, {INT64_MAX, "held by x"}}},
          Measured{ExecutorId(9), kKey, kOffset, 50, {with_step, empty}, kOddities},
          Exited{ExecutorId(9), kKey, info, {kOffset}, kOddities, {1, 2, 40}}};
}

}  // namespace hyperopt::testing
