// One run after the other under a real keeper: how it starts, ends and is stopped.
#include "executors/keeper.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "executors/internal/keeper_fixture.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

TEST_SUITE_BEGIN("keeper");

TEST_CASE("an exit code, and exit.json before the word of it") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  CHECK(executor.hello().holdings.empty());
  CHECK(executor.hello().sweep_id == sweep.id());
  executor.Send(sweep.Script(KeyOf(0), "echo fine >&2; exit 0"));
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  const auto written = ReadExitJson(sweep.DirOf(KeyOf(0)));
  REQUIRE(written.has_value());
  CHECK(written->exit_code == 0);
  CHECK(info.exit_code == 0);
  CHECK_FALSE(info.signal.has_value());
  CHECK(info.started);
  CHECK_FALSE(info.asked.has_value());
  CHECK(info.last_words.empty());
  CHECK(info.peak_memory > 100'000);
  CHECK(info.wall_s > 0);
  CHECK(info.ended_wall > 1.5e9);
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
  CHECK_FALSE(sweep.KeeperLives());
  CHECK_FALSE(fs::exists(sweep.folder() / "keeper.sock"));
}

TEST_CASE("a failure has its code and its last words") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  const ExitInfo info = executor.Run(sweep.Script(KeyOf(0), "echo why >&2; exit 7"));
  CHECK(info.exit_code == 7);
  CHECK(info.last_words == "why\n");
  CHECK_FALSE(info.device_memory);
  CHECK_FALSE(info.host_memory);
  const ExitInfo signalled = executor.Run(sweep.Script(KeyOf(1), "kill -SEGV $$"));
  CHECK_FALSE(signalled.exit_code.has_value());
  CHECK(signalled.signal == SIGSEGV);
  const ExitInfo memory = executor.Run(sweep.Script(
      KeyOf(2), "echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2; exit 1"));
  CHECK(memory.device_memory);
  const ExitInfo chatty =
      executor.Run(sweep.Script(KeyOf(3), "seq 1 9999 >&2; echo end >&2; exit 1"));
  CHECK(chatty.last_words.size() == 2048);
  CHECK(chatty.last_words.ends_with("9999\nend\n"));
  executor.Shutdown();
}

TEST_CASE("a rank gets its words, folder, environment and files as they were written") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(
      KeyOf(0), "pwd; echo \"$A|$HYPEROPT_TOKEN\"; cat; printf '%s' \"$1\"");
  spawn.ranks[0].argv.insert(spawn.ranks[0].argv.end(), {"sh", "a b\n*"});
  spawn.ranks[0].env.insert(spawn.ranks[0].env.end(),
                            {"A=x y", "HYPEROPT_TOKEN=of-an-outer-sweep"});
  CHECK(executor.Run(spawn).exit_code == 0);
  const fs::path dir = sweep.DirOf(KeyOf(0));
  CHECK(TextOf(dir / "stdout.log") ==
        dir.string() + "\nx y|" + TokenFor(sweep.id(), KeyOf(0)) + "-0\na b\n*");
  executor.Shutdown();
}

TEST_CASE("a rank has no descriptor of keeper or executor, and no signal blocked") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  CHECK(executor.Run(sweep.Command(KeyOf(0), {"ls", "/proc/self/fd"})).exit_code == 0);
  // 3 is the folder that ls reads.
  CHECK(TextOf(sweep.DirOf(KeyOf(0)) / "stdout.log") == "0\n1\n2\n3\n");
  // 32 and 33 are the C library's own, and it ignores them itself.
  executor.Run(sweep.Command(KeyOf(1),
                             {"sed",
                              "-nE",
                              "s/^(Sig(Blk|Ign)):.*[08]([0-9a-f]{7})$/\\1 \\3/p",
                              "/proc/self/status"}));
  CHECK(TextOf(sweep.DirOf(KeyOf(1)) / "stdout.log") ==
        "SigBlk 0000000\nSigIgn 0000000\n");
  executor.Shutdown();
}

TEST_CASE("what can not be started says why, and nothing of it runs") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  int trial = 0;
  const auto refused = [&](const SpawnRun& spawn,
                           const std::vector<std::string>& words) {
    const ExitInfo info = executor.Run(spawn);
    CHECK_FALSE(info.started);
    CHECK_FALSE(info.exit_code.has_value());
    for (const std::string& word : words) {
      CHECK_MESSAGE(info.error.find(word) != std::string::npos, info.error);
    }
    CHECK(ReadExitJson(spawn.dir)->error == info.error);
    ++trial;
  };
  refused(sweep.Command(KeyOf(trial), {"no-such-prog"}), {"no-such-prog", "PATH"});
  refused(sweep.Command(KeyOf(trial), {"/no/such"}), {"/no/such", "no such program"});
  refused(sweep.Command(KeyOf(trial), {}), {"empty"});
  SpawnRun lost = sweep.Command(KeyOf(trial), {"true"});
  lost.ranks[0].cwd = "/no/folder";
  refused(lost, {"/no/folder", "workdir"});
  SpawnRun unwritable = sweep.Command(KeyOf(trial), {"true"});
  unwritable.ranks[0].stdout_path = "/no/folder/out";
  refused(unwritable, {"/no/folder/out"});
  const fs::path plain = sweep.folder() / "plain";
  WriteFileAtomically(plain, "text", Durability::kProcess);
  refused(sweep.Command(KeyOf(trial), {plain}), {"plain", "chmod +x"});
  WriteFileAtomically(plain, "text", Durability::kProcess, 0755);
  refused(sweep.Command(KeyOf(trial), {plain}), {"plain", "#!"});
  refused(sweep.Command(KeyOf(trial), {"echo", std::string(200 << 10, 'x')}),
          {"echo", "too long", "$HYPEROPT_PARAMS"});
  executor.Shutdown();
}

TEST_CASE("a program is looked up in the PATH of its own environment") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  const fs::path bin = sweep.folder() / "bin dir";
  fs::create_directory(bin);
  WriteFileAtomically(bin / "mine", "#!/bin/sh\nexit 5\n", Durability::kProcess, 0755);
  SpawnRun spawn = sweep.Command(KeyOf(0), {"mine"});
  spawn.ranks[0].env = {"PATH=/nowhere:" + bin.string()};
  CHECK(executor.Run(spawn).exit_code == 5);
  executor.Shutdown();
}

TEST_CASE("all ranks start or none") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "echo $$ >pid; exec sleep 1000");
  sweep.AddRank(&spawn, "");
  spawn.ranks[1].argv = {"no-such-prog"};
  const ExitInfo info = executor.Run(spawn);
  CHECK_FALSE(info.started);
  CHECK(info.error.find("no-such-prog") != std::string::npos);
  CHECK(executor.StartsOf(KeyOf(0)) == 0);
  CHECK(ChildrenOf(executor.hello().pid).empty());
  executor.Shutdown();
}

TEST_CASE("a repeated spawn starts nothing and is answered") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  const SpawnRun spawn = sweep.Script(KeyOf(0), "echo once >>count; read x <go");
  REQUIRE(std::system(("mkfifo '" + spawn.dir + "/go'").c_str()) == 0);
  executor.Send(spawn);
  executor.Send(spawn);
  REQUIRE(WaitUntil([&] {
    (void)executor.HasEnded(KeyOf(0));
    return executor.StartsOf(KeyOf(0)) == 2;
  }));
  REQUIRE(std::system(("echo go >'" + spawn.dir + "/go'").c_str()) == 0);
  CHECK(executor.AwaitEnd(KeyOf(0)).exit_code == 0);
  // Ended and not released: it is held still.
  executor.Send(spawn);
  CHECK(executor.Run(sweep.Command(KeyOf(1), {"true"})).exit_code == 0);
  CHECK(TextOf(fs::path(spawn.dir) / "count") == "once\n");
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("stop.json is there before the signal, and a trial can save") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(
      sweep.Script(KeyOf(0),
                   "trap 'cat stop.json >seen; sleep 0.1; echo yes >saved; "
                   "exit 3' TERM; echo $$ >pid; while :; do sleep 0.01; done"));
  const fs::path dir = sweep.DirOf(KeyOf(0));
  AwaitPid(dir / "pid");
  executor.Send(StopRun{KeyOf(0), Reason::kPruned, 30});
  // The first reason counts.
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 30});
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  CHECK(info.exit_code == 3);
  CHECK(info.asked == Reason::kPruned);
  CHECK(info.last_words.empty());
  CHECK(TextOf(dir / "seen") == "{\"reason\":\"pruned\",\"grace_s\":30}\n");
  CHECK(TextOf(dir / "saved") == "yes\n");
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("who does not listen is killed, sooner if a later stop says so") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0), "trap '' TERM; echo $$ >pid; while :; do sleep 0.01; done"));
  AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 1000});
  executor.Send(StopRun{KeyOf(0), Reason::kBudget, 0.05});
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  CHECK(info.signal == SIGKILL);
  CHECK(info.asked == Reason::kUser);
  CHECK_FALSE(info.host_memory);
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a stop of what is unknown, or has ended, is nothing") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(StopRun{KeyOf(9), Reason::kUser, 0});
  executor.Send(sweep.Command(KeyOf(0), {"true"}));
  executor.AwaitEnd(KeyOf(0));
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 0});
  CHECK(executor.Run(sweep.Command(KeyOf(1), {"true"})).exit_code == 0);
  CHECK_FALSE(fs::exists(sweep.DirOf(KeyOf(0)) / "stop.json"));
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("over its wall limit a run is stopped") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "exec sleep 1000");
  spawn.wall_limit_s = 0.05;
  const ExitInfo info = executor.Run(spawn);
  CHECK(info.wall_limit);
  CHECK(info.asked == Reason::kWallLimit);
  CHECK(info.signal == SIGTERM);
  CHECK(info.wall_s >= 0.05);
  executor.Shutdown();
}

TEST_CASE("the stop signal is the one that was asked for") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "echo $$ >pid; exec sleep 1000");
  spawn.stop_signal = SIGUSR1;
  executor.Send(spawn);
  AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 30});
  CHECK(executor.AwaitEnd(KeyOf(0)).signal == SIGUSR1);
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a rank that fails takes the others along, and its exit counts") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "exec sleep 1000");
  sweep.AddRank(&spawn, "echo mine >&2; exit 9");
  sweep.AddRank(&spawn, "trap '' TERM; while :; do sleep 0.01; done");
  spawn.stop_grace_s = 0.1;
  const ExitInfo info = executor.Run(spawn);
  CHECK(info.exit_code == 9);
  CHECK_FALSE(info.asked.has_value());
  CHECK(info.last_words == "mine\n");
  executor.Shutdown();
}

TEST_CASE("the end of rank 0 waits for the others") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "exit 0");
  sweep.AddRank(&spawn, "echo $$ >pid; read x <go; echo $x >got");
  REQUIRE(std::system(("mkfifo '" + spawn.dir + "/go'").c_str()) == 0);
  executor.Send(spawn);
  const std::vector<pid_t> pids = executor.AwaitStart(KeyOf(0));
  REQUIRE(pids.size() == 2);
  REQUIRE(WaitUntil([&] { return !IsRunning(pids[0]); }));
  CHECK_FALSE(executor.HasEnded(KeyOf(0)));
  REQUIRE(std::system(("echo word >'" + spawn.dir + "/go'").c_str()) == 0);
  CHECK(executor.AwaitEnd(KeyOf(0)).exit_code == 0);
  CHECK(TextOf(fs::path(spawn.dir) / "got") == "word\n");
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a thousand short runs leave no zombie and no descriptor") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  const std::string fds = "/proc/" + std::to_string(executor.hello().pid) + "/fd";
  const auto count_fds = [&] {
    return std::distance(fs::directory_iterator(fds), fs::directory_iterator());
  };
  const auto before = count_fds();
  constexpr int kRuns = 1000;
  constexpr int kAtOnce = 8;
  for (int i = 0; i < kRuns + kAtOnce; ++i) {
    if (i < kRuns) executor.Send(sweep.Command(KeyOf(i), {"true"}));
    if (i < kAtOnce) continue;
    CHECK(executor.AwaitEnd(KeyOf(i - kAtOnce)).exit_code == 0);
    executor.Send(ReleaseRun{KeyOf(i - kAtOnce)});
  }
  CHECK(ChildrenOf(executor.hello().pid).empty());
  CHECK(count_fds() == before);
  executor.Shutdown();
}

TEST_CASE("a keeper is not for the hand of a person to signal") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1}) {
    kill(executor.hello().pid, signal);
  }
  CHECK(executor.Run(sweep.Command(KeyOf(0), {"true"})).exit_code == 0);
  executor.Shutdown();
}

TEST_CASE("an exit that can not be written is kept until it can") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(KeyOf(0), "exit 4");
  const fs::path blocked = sweep.folder() / "blocked";
  WriteFileAtomically(
      blocked, "a file where the folder should be", Durability::kProcess);
  spawn.dir = blocked.string();
  executor.Send(spawn);
  const pid_t leader = executor.AwaitStart(KeyOf(0)).at(0);
  REQUIRE(WaitUntil([&] { return !IsRunning(leader); }));
  // Another run that comes and goes shows that the keeper has seen the end.
  CHECK(executor.Run(sweep.Command(KeyOf(1), {"true"})).exit_code == 0);
  CHECK_FALSE(executor.HasEnded(KeyOf(0)));
  CHECK(ChildrenOf(executor.hello().pid) == std::vector<pid_t>{leader});
  fs::remove(blocked);
  CHECK(executor.AwaitEnd(KeyOf(0)).exit_code == 4);
  CHECK(ReadExitJson(blocked)->exit_code == 4);
  CHECK(ChildrenOf(executor.hello().pid).empty());
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a folder too long for a socket is refused in words") {
  const KeeperPlace place{fs::temp_directory_path() / std::string(100, 'x'), "00"};
  CHECK_THROWS_AS((void)StartOrAdoptKeeper(place), EnvironmentError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
