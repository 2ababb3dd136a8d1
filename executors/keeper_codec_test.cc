// The keeper's two forms of bytes: frames on its socket, and exit.json.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "executors/internal/exit_words.h"
#include "executors/internal/keeper_fixture.h"
#include "executors/internal/keeper_wire.h"
#include "executors/keeper.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

ExitInfo FullInfo() {
  ExitInfo info;
  info.signal = 9;
  info.started = false;
  info.lost = true;
  info.error = "\"quoted\"\n\xc3\xa9";
  info.asked = Reason::kWallLimit;
  info.wall_limit = true;
  info.host_memory = true;
  info.device_memory = true;
  info.wall_s = 0.1;
  info.peak_memory = int64_t{1} << 40;
  info.ended_wall = 1.7e9 + 0.125;
  info.last_words = "CUDA out of memory\n";
  return info;
}

void CheckSame(const ExitInfo& a, const ExitInfo& b) {
  CHECK(a.exit_code == b.exit_code);
  CHECK(a.signal == b.signal);
  CHECK(a.started == b.started);
  CHECK(a.lost == b.lost);
  CHECK(a.error == b.error);
  CHECK(a.asked == b.asked);
  CHECK(a.wall_limit == b.wall_limit);
  CHECK(a.host_memory == b.host_memory);
  CHECK(a.device_memory == b.device_memory);
  CHECK(a.wall_s == b.wall_s);
  CHECK(a.peak_memory == b.peak_memory);
  CHECK(a.ended_wall == b.ended_wall);
  CHECK(a.last_words == b.last_words);
}

template <typename Message>
std::string BodyOf(const Message& message) {
  std::string frame;
  AppendFrame(message, &frame);
  FrameReader reader;
  reader.Feed(frame);
  return std::string(reader.Next().value());
}

const RunKey kKey{TrialId(int64_t{1} << 40), RunId(3), Attempt(9)};

SpawnRun FullSpawn() {
  SpawnRun spawn;
  spawn.key = kKey;
  spawn.dir = "/a folder/x";
  spawn.token = "abc-1-2-3";
  spawn.ranks.resize(2);
  spawn.ranks[1].argv = {"prog", "", std::string("nul\0in", 6)};
  spawn.ranks[1].env = {"A=1", "B="};
  spawn.ranks[1].cwd = "/cwd";
  spawn.ranks[1].stdout_path = "out";
  spawn.ranks[1].stderr_path = "err";
  spawn.ranks[1].cpus = {3, 70000};
  spawn.ranks[1].cleanup = {"docker", "rm"};
  spawn.after = RunKey{TrialId(7), RunId(1), Attempt(2)};
  spawn.leases = {"/run/a lease"};
  spawn.wall_limit_s = 0.5;
  spawn.stop_signal = 12;
  spawn.stop_grace_s = 1e-3;
  return spawn;
}

TEST_SUITE_BEGIN("keeper codec");

TEST_CASE("a spawn keeps every field") {
  const SpawnRun sent = FullSpawn();
  const auto read = std::get<SpawnRun>(DecodeToKeeper(BodyOf(ToKeeper(sent))).value());
  CHECK(read.key == sent.key);
  CHECK(read.dir == sent.dir);
  CHECK(read.token == sent.token);
  REQUIRE(read.ranks.size() == 2);
  CHECK(read.ranks[0].argv.empty());
  CHECK(read.ranks[1].argv == sent.ranks[1].argv);
  CHECK(read.ranks[1].env == sent.ranks[1].env);
  CHECK(read.ranks[1].cwd == "/cwd");
  CHECK(read.ranks[1].stdout_path == "out");
  CHECK(read.ranks[1].stderr_path == "err");
  CHECK(read.after == sent.after);
  CHECK(read.leases == sent.leases);
  CHECK(read.wall_limit_s == 0.5);
  CHECK(read.stop_signal == 12);
  CHECK(read.stop_grace_s == 1e-3);
}

TEST_CASE("the other words to a keeper keep their fields") {
  const auto stop = std::get<StopRun>(
      DecodeToKeeper(BodyOf(ToKeeper(StopRun{kKey, Reason::kPreempted, 2.5, true})))
          .value());
  CHECK(stop.key == kKey);
  CHECK(stop.reason == Reason::kPreempted);
  CHECK(stop.grace_s == 2.5);
  CHECK(stop.if_waiting);
  CHECK(std::get<ReleaseRun>(DecodeToKeeper(BodyOf(ToKeeper(ReleaseRun{kKey}))).value())
            .key == kKey);
  const auto settings = std::get<KeeperSettings>(
      DecodeToKeeper(BodyOf(ToKeeper(KeeperSettings{1, 2, LostPolicy::kFinish})))
          .value());
  CHECK(settings.executor_lost_s == 1);
  CHECK(settings.stop_grace_s == 2);
  CHECK(settings.policy == LostPolicy::kFinish);
  const auto shutdown = DecodeToKeeper(BodyOf(ToKeeper(KeeperShutdown{}))).value();
  CHECK(std::holds_alternative<KeeperShutdown>(shutdown));
}

TEST_CASE("the words of a keeper keep their fields") {
  const auto ended = std::get<RunEnded>(
      DecodeFromKeeper(BodyOf(FromKeeper(RunEnded{kKey, FullInfo()}))).value());
  CHECK(ended.key == kKey);
  CheckSame(ended.info, FullInfo());
  const auto started = std::get<RunStarted>(
      DecodeFromKeeper(BodyOf(FromKeeper(RunStarted{kKey, {5, 6}}))).value());
  CHECK(started.pids == std::vector<int32_t>{5, 6});
  KeeperHello hello;
  hello.pid = 7;
  hello.sweep_id = "0123";
  hello.holdings = {{kKey, HoldState::kEnded}};
  hello.dirs[kKey] = "/d";
  hello.running_s[kKey] = 1.25;
  const auto read =
      std::get<KeeperHello>(DecodeFromKeeper(BodyOf(FromKeeper(hello))).value());
  CHECK(read.pid == 7);
  CHECK(read.sweep_id == "0123");
  CHECK(read.holdings == hello.holdings);
  CHECK(read.dirs == hello.dirs);
  CHECK(read.running_s == hello.running_s);
}

TEST_CASE("a torn, longer, or foreign body is no message") {
  const std::string body = BodyOf(ToKeeper(FullSpawn()));
  for (size_t size = 0; size < body.size(); ++size) {
    CHECK_FALSE(DecodeToKeeper(std::string_view(body).substr(0, size)).has_value());
  }
  CHECK_FALSE(DecodeToKeeper(body + "x").has_value());
  std::string other = body;
  other[0] = static_cast<char>(kKeeperWireVersion + 1);
  CHECK_FALSE(DecodeToKeeper(other).has_value());
  other = body;
  other[1] = 77;
  CHECK_FALSE(DecodeToKeeper(other).has_value());
}

TEST_CASE("frames come out whole however the stream is cut") {
  SpawnRun large = FullSpawn();
  large.ranks[0].env.assign(1, std::string(300'000, 'x'));
  std::string stream;
  AppendFrame(ToKeeper(large), &stream);
  AppendFrame(ToKeeper(ReleaseRun{kKey}), &stream);
  for (const size_t piece : {size_t{1}, size_t{4096}, stream.size()}) {
    FrameReader reader;
    std::vector<ToKeeper> messages;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.Feed(std::string_view(stream).substr(at, piece));
      while (const auto body = reader.Next()) {
        messages.push_back(DecodeToKeeper(*body).value());
      }
    }
    REQUIRE(messages.size() == 2);
    CHECK(std::get<SpawnRun>(messages[0]).ranks[0].env == large.ranks[0].env);
    CHECK(std::get<ReleaseRun>(messages[1]).key == kKey);
  }
}

TEST_CASE("a length beyond all sense breaks the stream instead of the memory") {
  FrameReader reader;
  reader.Feed("\xff\xff\xff\xffrest");
  CHECK_FALSE(reader.Next().has_value());
  CHECK(reader.broken());
}

TEST_CASE("exit.json gives back what was written") {
  const TestSweep sweep;
  CHECK_FALSE(ReadExitJson(sweep.folder()).has_value());
  for (const ExitInfo& info : {FullInfo(), ExitInfo{.exit_code = 3}}) {
    WriteFileAtomically(
        sweep.folder() / "exit.json", ExitInfoToJson(info), Durability::kProcess);
    const auto read = ReadExitJson(sweep.folder());
    REQUIRE(read.has_value());
    CheckSame(*read, info);
  }
}

TEST_CASE("a torn exit.json is none") {
  const TestSweep sweep;
  const std::string text = ExitInfoToJson(FullInfo());
  for (const std::string& broken : {text.substr(0, text.size() / 2),
                                    std::string(),
                                    std::string("{}"),
                                    std::string("[1]"),
                                    std::string(64, '\0')}) {
    WriteFileAtomically(sweep.folder() / "exit.json", broken, Durability::kProcess);
    CHECK_FALSE(ReadExitJson(sweep.folder()).has_value());
  }
}

TEST_CASE("the words of a leader that lost a worker, and of one that did not") {
  CHECK(SaysKilledWorker(
      "RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed.\n"));
  CHECK(SaysKilledWorker("concurrent.futures.process.BrokenProcessPool: A process"));
  CHECK(SaysKilledWorker("root Cause (first observed failure): exitcode=-9"));
  CHECK_FALSE(SaysKilledWorker("ValueError: killed the mood"));
  CHECK_FALSE(SaysKilledWorker(""));
}

TEST_CASE("last words are valid text, whatever was cut or written") {
  CHECK(CleanUtf8("\x82\xacok") == "ok");
  CHECK(CleanUtf8("a\xff"
                  "b") ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(CleanUtf8("") == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
