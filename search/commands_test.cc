// Commands over a record: best, export, verify.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "search/commands/best.h"
#include "search/commands/export.h"
#include "search/commands/verify.h"
#include "search/outcome.h"
#include "search/record_start.h"
#include "search/status.h"
#include "search/testing/played_sweep.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

using testing::PlayedSweep;
using testing::ScriptedTrial;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::string kFile = R"(
command: [python3, train.py, "${args}"]
hyperopt:
  goal: minimize
  metric: loss
  parameters:
    lr: {space: loguniform, lower: 1e-5, upper: 1e-1}
    "optimizer": {space: choice, categories: [sgd, 'ad,am', "qu\"ote"]}
    layers: {space: int, lower: 1, upper: 6}
    id: {space: choice, categories: [true, 1, "1", 1.0, [a, b], null]}
  search_alg: {type: random}
  executor:
    num_samples: 30
    max_concurrent_trials: 4
    scheduler: {type: asha, max_t: 9, grace_period: 1, reduction_factor: 3}
)";

// Trial 3 fails, trial 5 is NaN at once, the others fall at their own speed.
ScriptedTrial PlayMixed(TrialId id, const Params&) {
  if (id == TrialId(3)) return {{}, 3, "broken\n"};
  if (id == TrialId(5)) return {{kNan, kNan}};
  ScriptedTrial trial;
  for (int step = 1; step <= 9; ++step) {
    trial.values.push_back(static_cast<double>((id.value() * 7) % 11) + 1.0 / step);
  }
  return trial;
}

ScriptedTrial Broken(TrialId, const Params&) { return {{}, 1, "no\n"}; }

PlayedSweep& MixedSweep() {
  static PlayedSweep* sweep = [] {
    auto* played = new PlayedSweep(kFile, PlayMixed);
    played->PlayToEnd();
    return played;
  }();
  return *sweep;
}

std::string Exported(void (*write)(const RecordedSweep&, const TextSink&),
                     const RecordedSweep& sweep) {
  std::string text;
  write(sweep, [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<std::string> KeysOf(const OrderedJson& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST_CASE("export json: the stable shape") {
  const OrderedJson json =
      OrderedJson::parse(Exported(ExportJson, MixedSweep().Record()));
  CHECK(KeysOf(json) == std::vector<std::string>{"sweep", "trials"});
  CHECK(KeysOf(json["sweep"]) ==
        std::vector<std::string>{"name", "state", "goal", "metric", "value", "seed"});
  REQUIRE(json["trials"].size() == 30);
  const OrderedJson& first = json["trials"][0];
  const std::vector<std::string> keys = {"id",
                                         "state",
                                         "attempt",
                                         "params",
                                         "best",
                                         "best_step",
                                         "last",
                                         "steps",
                                         "started",
                                         "ended",
                                         "executor",
                                         "devices",
                                         "reason",
                                         "detail",
                                         "reports"};
  CHECK(KeysOf(first) == keys);
  CHECK(first["id"] == 0);
  CHECK(first["executor"] == "embedded");
  CHECK(first["devices"].is_array());
  CHECK(first["started"].is_number());
  CHECK(first["reports"].size() >= 1);
  CHECK(first["reports"][0]["step"] == 1);
  CHECK(first["reports"][0]["loss"] == first["reports"][0]["loss"].get<double>());
  const OrderedJson& failed = json["trials"][3];
  CHECK(failed["state"] == "failed");
  CHECK(failed["reason"] == "exit code");
  CHECK(failed["best"].is_null());
  CHECK(failed["reports"].empty());
  const OrderedJson& nan = json["trials"][5];
  CHECK(nan["best"] == "NaN");
  CHECK(nan["reports"][0]["loss"] == "NaN");
}

TEST_CASE("export csv: a column a parameter, quoted where it must be") {
  const std::string text = Exported(ExportCsv, MixedSweep().Record());
  std::istringstream in(text);
  std::string line;
  REQUIRE(std::getline(in, line));
  // A parameter that is called as a column of ours is told apart.
  CHECK(line ==
        "id,state,reason,detail,attempt,best,best_step,last,last_step,started,ended,"
        "executor,devices,lr,optimizer,layers,params.id");
  int rows = 0;
  std::string all;
  while (std::getline(in, line)) ++rows, all += line + "\n";
  CHECK(rows == 30);
  CHECK(all.find(",\"ad,am\",") != all.npos);
  CHECK(all.find(",\"qu\"\"ote\",") != all.npos);
  CHECK(all.find("\"[\"\"a\"\",\"\"b\"\"]\"") != all.npos);
  CHECK(all.find("5,stopped,pruned,,1,NaN,1,NaN,1,") != all.npos);
  CHECK(all.find("3,failed,exit code,exit code 3,1,,,,,") != all.npos);
}

TEST_CASE("export ludwig: the keys of a real hyperopt_statistics.json") {
  const OrderedJson ours =
      OrderedJson::parse(Exported(ExportLudwig, MixedSweep().Record()));
  std::ifstream file(HYPEROPT_SEARCH_TESTDATA "/ludwig_hyperopt_statistics.json");
  const OrderedJson real = OrderedJson::parse(file);
  CHECK(KeysOf(ours) == KeysOf(real));
  for (const char* key : {"goal", "metric", "parameters", "executor"}) {
    CHECK(real["hyperopt_config"].contains(key));
    CHECK(ours["hyperopt_config"].contains(key));
  }
  REQUIRE(ours["hyperopt_results"].size() == 29);  // without the failed one
  const OrderedJson& result = ours["hyperopt_results"][0];
  CHECK(KeysOf(result) == KeysOf(real["hyperopt_results"][0]));
  CHECK(result["metric_score"].is_number());
  const OrderedJson& loss = result["training_stats"]["validation"]["combined"]["loss"];
  REQUIRE(loss.is_array());
  CHECK(result["metric_score"] == *std::min_element(loss.begin(), loss.end()));
  CHECK(result["eval_stats"]["combined"]["loss"] == result["metric_score"]);
  // Best first; what has no number is last, and named.
  double before = -1e300;
  for (const OrderedJson& each : ours["hyperopt_results"]) {
    if (!each["metric_score"].is_number()) continue;
    CHECK(each["metric_score"].get<double>() >= before);
    before = each["metric_score"].get<double>();
  }
  CHECK(ours["hyperopt_results"].back()["metric_score"] == "NaN");
}

// What SweepFacts asks SQLite for, of a record that is in memory.
SweepStatus StatusIn(const RecordedSweep& sweep) {
  RecordSummary summary;
  summary.sweep = sweep.record.sweep;
  for (const TrialRow& row : sweep.record.trials) ++summary.counts[row.state];
  summary.proposed = std::ssize(sweep.record.trials);
  return StatusOf(summary, sweep.config);
}

TEST_CASE("best: value, merged config, a complete checkpoint") {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("best test " + RandomHex(6));
  RecordedSweep sweep = MixedSweep().Record();
  sweep.dir = dir;
  std::optional<BestTrial> best = FindBestTrial(sweep);
  REQUIRE(best);
  CHECK(best->value.finite());
  CHECK(best->checkpoint.empty());
  for (const TrialRow& row : sweep.record.trials) {
    if (row.state == TrialState::kFailed) continue;
    CHECK_FALSE(Better(Goal::kMinimize, row.best, best->value));
  }
  const OrderedJson json = BestToJson(sweep, *best);
  CHECK(json["checkpoint"].is_null());
  CHECK(json["config"]["lr"] == json["params"]["lr"]);
  CHECK(json["config_file"].get<std::string>().ends_with("/1/config.json"));
  CHECK(json["folder"].get<std::string>().starts_with(dir.string()));
}

TEST_CASE("no trial, one trial, none that completed") {
  SUBCASE("no trial yet") {
    const PlayedSweep sweep(kFile, PlayMixed);
    const RecordedSweep record = sweep.Record();
    CHECK_FALSE(FindBestTrial(record));
    CHECK(VerifySweep(record).empty());
    CHECK(OrderedJson::parse(Exported(ExportJson, record))["trials"].empty());
    CHECK(
        OrderedJson::parse(Exported(ExportLudwig, record))["hyperopt_results"].empty());
    const SweepStatus status = StatusIn(record);
    CHECK(status.counts.planned == 30);
    CHECK(StatusLine(status).find("no loss yet") != std::string::npos);
  }
  SUBCASE("one") {
    PlayedSweep sweep(testing::CommandFile("  executor: {num_samples: 1}\n"),
                      [](TrialId, const Params&) { return ScriptedTrial{{0.5}}; });
    sweep.PlayToEnd();
    const RecordedSweep record = sweep.Record();
    CHECK(FindBestTrial(record)->value.value == 0.5);
    CHECK(VerifySweep(record).empty());
  }
  SUBCASE("all failed") {
    PlayedSweep sweep(kFile, Broken);
    sweep.PlayToEnd();
    const RecordedSweep record = sweep.Record();
    CHECK_FALSE(FindBestTrial(record));
    CHECK(VerifySweep(record).empty());
    CHECK(
        OrderedJson::parse(Exported(ExportLudwig, record))["hyperopt_results"].empty());
    CHECK(StatusIn(record).counts.failed >= 3);
  }
}

TEST_CASE("why: said once, in the words of a person") {
  TrialRow row;
  row.id = TrialId(4);
  row.state = TrialState::kFailed;
  row.reason = Reason::kExitCode;
  row.detail = "exit code 3";
  CHECK(WhyText(row) == "exit code 3");
  CHECK(StateText(row) == "trial 4 failed: exit code 3");
  row.state = TrialState::kPending;
  row.reason = Reason::kRetry;
  CHECK(WhyText(row).ends_with(": exit code 3"));
  row = TrialRow();
  row.state = TrialState::kCompleted;
  CHECK(StateText(row) == "trial 0 completed");
  row.reason = Reason::kMaxTime;
  CHECK(StateText(row) == "trial 0 completed: at max_t");
  row.state = TrialState::kStopped;
  row.reason = Reason::kPruned;
  CHECK(StateText(row) == "trial 0 was stopped: pruned");
}

// A folder with blanks in its name; the process is back where it was at the end.
struct Elsewhere {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("resume test " + RandomHex(6));
  Elsewhere() {
    std::filesystem::create_directories(dir / "first place");
    std::filesystem::create_directories(dir / "second place");
    std::filesystem::current_path(dir / "first place");
  }
  ~Elsewhere() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(dir);
  }
};

TEST_CASE("a resume from another folder runs trials in the same places") {
  const Elsewhere places;
  const std::string file = testing::CommandFile();
  const std::string text = "command: [sh, \"${config.dir}/t.sh\", \"${args}\"]\n" +
                           file.substr(file.find('\n') + 1);
  SearchConfig config;
  SUBCASE("a file") {
    std::ofstream("../search.yaml") << text;
    config = LoadConfig("../search.yaml");
  }
  SUBCASE("a string") { config = ParseConfig(text, "--config_str", "."); }
  const std::filesystem::path out = places.dir / "out";
  SweepSpec first;
  {
    SweepFolder folder = SweepFolder::Take(out);
    const OpenedRecord record = OpenRecord(&folder, &config, OldRecord::kResume);
    first = MakeSweepSpec(config, record.snapshot.sweep, out, config.command);
  }
  CHECK(std::filesystem::equivalent(
      first.config_dir, config.file.empty() ? places.dir / "first place" : places.dir));
  std::filesystem::current_path(places.dir / "second place");
  const SweepRow row = ReadSweep(out).record.sweep;
  const SearchConfig again = ConfigForResume(row);
  const SweepSpec second = MakeSweepSpec(again, row, out, again.command);
  CHECK(second.config_dir == first.config_dir);
  CHECK(second.workdir == first.workdir);
  CHECK(again.text == text);
}

TEST_CASE("ten thousand trials") {
  PlayedSweep sweep(
      testing::CommandFile("  search_alg: {type: random}\n"
                           "  executor: {num_samples: 10000}\n"),
      [](TrialId id, const Params&) {
        return ScriptedTrial{{static_cast<double>(id.value() % 977)}};
      },
      200);
  sweep.PlayToEnd();
  const RecordedSweep record = sweep.Record();
  CHECK(FindBestTrial(record)->trial == TrialId(0));
  CHECK(StatusIn(record).counts.completed == 10000);
  const std::string csv = Exported(ExportCsv, record);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 10001);
  CHECK(VerifySweep(record).empty());
}

// ---- verify ----

std::vector<std::string> AfterTampering(
    const std::function<RecordChange(const RecordedSweep&)>& tamper) {
  PlayedSweep sweep(kFile, PlayMixed);
  sweep.PlayToEnd();
  const std::vector<RecordChange> changes = {tamper(sweep.Record())};
  sweep.store().Commit(changes);
  return VerifySweep(sweep.Record());
}

TEST_CASE("verify: a sweep with early stops, failures and NaN is as it must be") {
  const RecordedSweep sweep = MixedSweep().Record();
  CHECK(sweep.record.rungs.size() > 30);
  const std::vector<std::string> lines = VerifySweep(sweep);
  CHECK(lines == std::vector<std::string>{});
}

TEST_CASE("verify: every kind of tampering is found") {
  SUBCASE("a verdict") {
    const auto lines = AfterTampering([](const RecordedSweep& sweep) {
      RungRow row = sweep.record.rungs[4];
      row.stopped = !row.stopped;
      return PutRung{row};
    });
    CHECK(lines.size() >= 1);
  }
  SUBCASE("a rung's value") {
    const auto lines = AfterTampering([](const RecordedSweep& sweep) {
      RungRow row = sweep.record.rungs[2];
      row.value = Objective::Of(row.value.value + 1e-9);
      return PutRung{row};
    });
    CHECK(lines.size() >= 1);
  }
  SUBCASE("a best value") {
    const auto lines = AfterTampering([](const RecordedSweep& sweep) {
      TrialRow row = sweep.record.trials[7];
      row.best = Objective::Of(-1);
      return PutTrial{row};
    });
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("trial 7: the best value is -1 at step"));
  }
  SUBCASE("a report more") {
    const auto lines = AfterTampering([](const RecordedSweep& sweep) {
      ReportRow row = sweep.store->LoadReports(TrialId(8)).back();
      row.offset += 5;
      row.objective = Objective::Of(-7);
      return AddReport{row};
    });
    REQUIRE(lines.size() >= 1);
    CHECK(lines[0].starts_with("trial 8: "));
  }
  SUBCASE("a state") {
    const auto lines = AfterTampering([](const RecordedSweep& sweep) {
      for (TrialRow row : sweep.record.trials) {
        if (row.reason != Reason::kPruned) continue;
        row.state = TrialState::kCompleted;
        row.reason = Reason::kNone;
        return PutTrial{row};
      }
      FAIL("no trial was stopped early");
      return PutTrial{};
    });
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("recorded as completed") != lines[0].npos);
  }
  SUBCASE("the seed") {
    RecordedSweep sweep = MixedSweep().Record();
    ++sweep.config.sampler.seed;
    CHECK(VerifySweep(sweep).size() >= 30);
  }
  SUBCASE("a category that is another value of the same text") {
    RecordedSweep sweep = MixedSweep().Record();
    const std::string file = std::string(kFile).replace(
        kFile.find("[true, 1, \"1\""), 13, "[true, \"1\", 1");
    sweep.config.space = testing::Parse(file).space;
    const auto lines = VerifySweep(sweep, 3);
    REQUIRE(lines.size() >= 1);
    CHECK(lines[0].find("id is recorded as") != lines[0].npos);
  }
}

}  // namespace
}  // namespace hyperopt
