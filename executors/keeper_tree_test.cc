// Descendants: a run is over when all of them are gone, wherever they went.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "executors/internal/keeper_fixture.h"
#include "executors/keeper.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Stops the run at once and checks that `pid` does not survive its end.
ExitInfo StopAndCheck(TestExecutor* executor, const RunKey& key, pid_t pid) {
  REQUIRE(IsRunning(pid));
  executor->Send(StopRun{key, Reason::kUser, 0.05});
  ExitInfo info = executor->AwaitEnd(key);
  CHECK_FALSE(IsRunning(pid));
  executor->Send(ReleaseRun{key});
  return info;
}

constexpr char kWaits[] = " while :; do sleep 0.01; done";

TEST_SUITE_BEGIN("keeper tree");

TEST_CASE("a child in a session of its own goes with its run") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      std::string("setsid sh -c 'trap \"\" TERM; echo $$ >pid; exec sleep 1000' &") +
          kWaits));
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  CHECK(StopAndCheck(&executor, KeyOf(0), pid).signal == SIGTERM);
  executor.Shutdown();
}

TEST_CASE("a daemon that forked twice goes with its run") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      std::string("(setsid sh -c 'trap \"\" TERM; sh -c \"trap \\\"\\\" TERM; "
                  "echo \\$\\$ >pid; exec sleep 1000\" & exit' &);") +
          kWaits));
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  StopAndCheck(&executor, KeyOf(0), pid);
  executor.Shutdown();
}

TEST_CASE("a child without environment, group and session goes with its run") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      std::string("env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$ >pid; exec "
                  "/bin/sleep 1000' &") +
          kWaits));
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  StopAndCheck(&executor, KeyOf(0), pid);
  executor.Shutdown();
}

TEST_CASE("of two such children each goes with its own run") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  std::vector<pid_t> pids;
  for (int trial = 0; trial < 2; ++trial) {
    executor.Send(sweep.Script(
        KeyOf(trial),
        std::string("env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$ >pid; exec "
                    "/bin/sleep 1000' &") +
            kWaits));
    pids.push_back(AwaitPid(sweep.DirOf(KeyOf(trial)) / "pid"));
  }
  StopAndCheck(&executor, KeyOf(1), pids[1]);
  CHECK(IsRunning(pids[0]));
  StopAndCheck(&executor, KeyOf(0), pids[0]);
  executor.Shutdown();
}

TEST_CASE("what a leader leaves behind is told to stop, then killed") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  SpawnRun spawn = sweep.Script(
      KeyOf(0),
      "sh -c 'trap \"echo told >told\" TERM; echo $$ >pid; while :; do sleep 0.01; "
      "done' & setsid sh -c 'trap \"echo told >told2\" TERM; echo $$ >pid2; while :; "
      "do "
      "sleep 0.01; done' & while [ ! -s pid ] || [ ! -s pid2 ]; do sleep 0.01; done");
  spawn.stop_grace_s = 0.5;
  executor.Send(spawn);
  const fs::path dir = sweep.DirOf(KeyOf(0));
  const pid_t in_group = AwaitPid(dir / "pid");
  const pid_t outside = AwaitPid(dir / "pid2");
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  CHECK(info.exit_code == 0);
  CHECK_FALSE(info.asked.has_value());
  CHECK_FALSE(fs::exists(dir / "stop.json"));
  CHECK_FALSE(IsRunning(in_group));
  CHECK_FALSE(IsRunning(outside));
  CHECK(TextOf(dir / "told") == "told\n");
  CHECK(TextOf(dir / "told2") == "told\n");
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("the leader's end does not shorten the grace of one that saves") {
  // sh -c 'prog; echo done': sh dies of the group's signal at once.
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      "sh -c 'trap \"echo told >>told; sleep 0.3; echo yes >saved; exit\" TERM; echo "
      "$$ >pid; while :; do sleep 0.01; done'; echo done"));
  const fs::path dir = sweep.DirOf(KeyOf(0));
  AwaitPid(dir / "pid");
  executor.Send(StopRun{KeyOf(0), Reason::kPreempted, 30});
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  CHECK(info.signal == SIGTERM);
  CHECK(info.asked == Reason::kPreempted);
  CHECK(TextOf(dir / "saved") == "yes\n");
  CHECK(TextOf(dir / "told") == "told\n");
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a tree of fifty, half of it in sessions of its own, goes with its run") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  WriteFileAtomically(sweep.folder() / "tree.sh",
                      "trap '' TERM\n"
                      "echo $$ >>pids\n"
                      "if [ $1 -gt 1 ]; then sh \"$0\" $(($1 / 2)) &\n"
                      "setsid sh \"$0\" $(($1 - $1 / 2)) & fi\n"
                      "exec sleep 1000\n",
                      Durability::kProcess);
  const fs::path script = sweep.folder() / "tree.sh";
  executor.Send(sweep.Command(KeyOf(0), {"sh", script.string(), "26"}));
  std::vector<pid_t> pids;
  REQUIRE(WaitUntil([&] {
    pids.clear();
    std::ifstream lines(sweep.DirOf(KeyOf(0)) / "pids");
    for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
    return pids.size() == 51;
  }));
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 0.05});
  CHECK(executor.AwaitEnd(KeyOf(0)).asked == Reason::kUser);
  for (const pid_t pid : pids) CHECK_FALSE(IsRunning(pid));
  CHECK(ChildrenOf(executor.hello().pid).empty());
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a leader's number stays taken until all below it are gone") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      "setsid sh -c 'trap \"\" TERM; echo $$ >pid; exec sleep 1000' & while [ ! -s pid "
      "]; do sleep 0.01; done"));
  const pid_t leader = executor.AwaitStart(KeyOf(0)).at(0);
  const pid_t below = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  REQUIRE(WaitUntil([&] { return !IsRunning(leader); }));
  CHECK(executor.Run(sweep.Command(KeyOf(1), {"true"})).exit_code == 0);
  CHECK(kill(leader, 0) == 0);
  CHECK_FALSE(executor.HasEnded(KeyOf(0)));
  // A stop that comes now hastens the rest, but was not what ended the trial.
  const ExitInfo info = StopAndCheck(&executor, KeyOf(0), below);
  CHECK(info.exit_code == 0);
  CHECK_FALSE(info.asked.has_value());
  CHECK(kill(leader, 0) != 0);
  executor.Shutdown();
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
